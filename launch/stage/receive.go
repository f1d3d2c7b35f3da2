// Makes a gdb of the pieces that come to a node.

package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"sdm/protocol"
)

// Receiver makes a gdb of the pieces that come to a node. Its zero value is ready. Take and Close
// are called by one goroutine at a time, Path by any.
//
// Close removes what has been unpacked. If this process is killed, a shell that waits for its end
// removes it. If that is killed too, the next Receiver in the same directory removes it: each
// holds a lock on a file beside its directory.
type Receiver struct {
	mu   sync.Mutex
	path string // the script that runs the gdb; "": there is none

	failed     error
	archive    *os.File // the data that has come; the file is unlinked
	sum        hash.Hash
	got        int64
	dir        string    // the directory of this Receiver
	lock       *os.File  // on the file dir.lock
	shellInput *os.File  // write end of the shell's standard input
	shell      *exec.Cmd // runs remover
}

// prefix is the prefix of names in the user's directory.
const prefix = "sdm-gdb-"

// Path returns the gdb to run, "" if none has come. r may be nil.
func (r *Receiver) Path() string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.path
}

// Take takes the next piece; the last one makes the gdb. The first error is final: what has been
// unpacked is removed, and all further calls return the error.
func (r *Receiver) Take(p protocol.Piece) error {
	if r.failed != nil {
		return r.failed
	}
	err := r.take(p)
	if err != nil {
		r.failed = fmt.Errorf("%s: %w", p.Dir, err)
		r.clear()
	}
	return r.failed
}

func (r *Receiver) take(p protocol.Piece) error {
	if r.Path() != "" {
		return errors.New("there is a staged gdb already")
	}
	if r.archive == nil {
		if err := r.begin(p); err != nil {
			return err
		}
	}
	if r.got != p.At || r.got+int64(len(p.Data)) > p.Packed {
		return fmt.Errorf("a piece at %d of %d bytes has come after %d", p.At, p.Packed, r.got)
	}
	if _, err := io.MultiWriter(r.archive, r.sum).Write(p.Data); err != nil {
		return plain(err)
	}
	r.got += int64(len(p.Data))
	if r.got < p.Packed {
		return nil
	}
	return r.complete(p)
}

// begin makes the lock, the directory and the file for the archive.
func (r *Receiver) begin(p protocol.Piece) error {
	if p.Packed <= 0 || p.Unpacked <= 0 || p.Unpacked > maxUnpacked || p.Packed > maxUnpacked {
		return fmt.Errorf("an archive of %d bytes, and %d unpacked, cannot be", p.Packed, p.Unpacked)
	}
	if !filepath.IsAbs(p.Dir) {
		return errors.New("not an absolute path")
	}
	sweep(p.Dir)
	err := checkRoom(p.Dir, p.Packed+p.Unpacked)
	if err != nil {
		return err
	}
	// A gdb is many files, which find one another by their paths.
	if info, err := os.Stat(p.Dir); err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("all users may rename what lies there (mode %04o without the sticky bit)", info.Mode().Perm())
	}
	if r.lock, err = ownLock(p.Dir); err != nil {
		return plain(err)
	}
	r.dir = strings.TrimSuffix(r.lock.Name(), lockSuffix)
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return plain(err)
	}
	if err := r.watch(); err != nil {
		return err
	}
	if r.archive, err = os.CreateTemp(r.dir, "archive-"); err != nil {
		return plain(err)
	}
	os.Remove(r.archive.Name())
	r.sum = sha256.New()
	return nil
}

// remover waits for the end of its standard input, which comes with the end of this process, and
// removes the directory. It tries several times: gdbs that end at the same time may still write
// there.
const remover = `read x; for i in 1 2 3 4 5; do rm -rf "$1" "$1.lock" && exit; sleep 1; done`

// watch starts the shell that removes the directory if this process is killed. The shell gets a
// session of its own, because the process group may be killed.
func (r *Receiver) watch() error {
	in, shellInput, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	r.shellInput = shellInput
	r.shell = exec.Command("/bin/sh", "-c", remover, "sh", r.dir)
	r.shell.Stdin, r.shell.Dir = in, "/"
	r.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return r.shell.Start()
}

// triedFor is how long a new gdb may take to print its version.
const triedFor = 30 * time.Second

// complete checks the hash of the archive, unpacks it and tries the gdb.
func (r *Receiver) complete(p protocol.Piece) error {
	if found := hex.EncodeToString(r.sum.Sum(nil)); found != p.Hash {
		return fmt.Errorf("what has come is not what was sent (SHA-256 %.12s…, not %.12s…)", found, p.Hash)
	}
	if _, err := r.archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := unpack(r.archive, r.dir, p.Unpacked); err != nil {
		return err
	}
	r.archive.Close()
	ctx, cancel := context.WithTimeout(context.Background(), triedFor)
	defer cancel()
	path := filepath.Join(r.dir, runnerName)
	cmd := exec.CommandContext(ctx, path, "-nx", "--version")
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("the staged gdb does not run here: %w: %.200s", err, line)
	}
	r.mu.Lock()
	r.path = path
	r.mu.Unlock()
	return nil
}

// Close removes the gdb, which must not run any more.
func (r *Receiver) Close() {
	r.mu.Lock()
	r.path = ""
	r.mu.Unlock()
	r.clear()
	r.failed = errors.New("the session is over")
}

func (r *Receiver) clear() {
	if r.archive != nil {
		r.archive.Close()
	}
	if r.dir != "" {
		os.RemoveAll(r.dir)
	}
	if r.lock != nil {
		os.Remove(r.lock.Name())
		r.lock.Close()
	}
	if r.shellInput != nil {
		r.shellInput.Close()
	}
	if r.shell != nil && r.shell.Process != nil {
		r.shell.Wait()
	}
	r.archive, r.dir, r.lock, r.shellInput, r.shell = nil, "", nil, nil, nil
}

const lockSuffix = ".lock"

// ownLock makes a new lock file in a directory and locks it. The name without the suffix names the
// directory to make, which must not exist yet.
func ownLock(dir string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, prefix+"*"+lockSuffix)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			f.Close()
			return nil, err
		}
		mine, err1 := f.Stat()
		there, err2 := os.Lstat(f.Name())
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return f, nil
		}
		f.Close() // another process's sweep has removed it before it was locked
	}
}

// sweep removes what ended processes of this user have left in a directory: their lock files are
// not locked. Errors are ignored.
func sweep(dir string) {
	// If dir itself has wildcards, fewer files are found.
	locks, _ := filepath.Glob(filepath.Join(dir, prefix+"*"+lockSuffix))
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		var st syscall.Stat_t
		err = syscall.Fstat(int(f.Fd()), &st)
		if err == nil && int(st.Uid) == os.Getuid() && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(strings.TrimSuffix(name, lockSuffix))
			os.Remove(name)
		}
		f.Close()
	}
}
