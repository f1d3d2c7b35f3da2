// Package stage lets programs run on a node from storage of the node: the sdm programs, copied
// (Put, Script), and a gdb with all that it needs, packed where it is installed (FindGDB) and
// unpacked where it is not (Receiver).
//
// The storage may be a directory in which strangers write, too. So what is run from there lies in a
// directory of ours, see private, and is executed by its descriptor where a program of ours executes
// it: a path may lead to something else a moment later.
package stage

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Hash returns the SHA-256 of a file, in hexadecimal.
func Hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashOf(f)
}

func hashOf(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Name returns the name of the directory of a session's copies in a shared directory. The servers of
// a session on a host find the same one; nobody can foresee it without the secret. An empty secret
// gives a name that is used once.
func Name(secret []byte, host string) string {
	if len(secret) == 0 {
		secret = make([]byte, sha256.Size)
		rand.Read(secret) // never fails
	}
	sum := hmac.New(sha256.New, secret)
	io.WriteString(sum, "sdm stage "+host)
	return copyPrefix + hex.EncodeToString(sum.Sum(nil)[:16])
}

const copyPrefix = "sdm-server-"

// Program is a copy of a program.
type Program struct {
	Path string   // where it is; others may have put something else there meanwhile
	File *os.File // the copy itself
}

// Exec replaces this process by the copy. It returns only if that fails.
func (p *Program) Exec(args, env []string) error {
	defer p.File.Close()
	return syscall.Exec(fmt.Sprintf("/proc/self/fd/%d", p.File.Fd()), args, env)
}

// Settle completes the start of a copy: a program that is executed by its descriptor has the number
// of that in place of a name, and the line of a shell leaves the descriptor open (see Copy).
func Settle(program string) error {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return err
	}
	for fd := firstFD; fd <= lastFD; fd++ {
		if found, err := os.Stat(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && os.SameFile(found, self) {
			syscall.Close(fd)
		}
	}
	return os.WriteFile("/proc/self/comm", []byte(program), 0) // the name of the whole process (proc(5))
}

// putTries is how often Put begins again since another process has removed the directory meanwhile.
const putTries = 100

// Put copies the program source into the directory name in dir (see Name), which must exist. Several
// processes may call it at the same time: one copies, the others wait for it. An existing copy is
// used if its hash is the wanted one ("": the hash of source). The error says why dir cannot be
// used.
func Put(source, dir, name, want string) (*Program, error) {
	info, err := os.Stat(source)
	if err != nil {
		return nil, err
	}
	if err := checkRoom(dir, 0); err != nil {
		return nil, err
	}
	if want == "" {
		if want, err = Hash(source); err != nil {
			return nil, err
		}
	}
	base := filepath.Base(source)
	var file *os.File
	for range putTries {
		file, err = put(source, dir, name, base, want, info.Size())
		if !errors.Is(err, errGone) {
			break
		}
	}
	if err != nil {
		return nil, plain(err)
	}
	return &Program{Path: filepath.Join(dir, name, base), File: file}, nil
}

// errGone: a directory was removed while it was used.
var errGone = errors.New("another process removes it again and again")

// put is one try of Put. It returns the copy, open to be read.
func put(source, dir, name, base, want string, size int64) (*os.File, error) {
	own, err := private(dir, name)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	lock, err := own.Open(".")
	if err != nil {
		return nil, err
	}
	defer lock.Close() // releases the lock
	// Without it (file systems that have none for directories) each process makes a copy, and the
	// last one stays.
	syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	if f, err := own.Open(base); err == nil {
		if found, err := hashOf(f); err == nil && found == want {
			return f, nil
		}
		f.Close()
	}
	if err := checkRoom(dir, size); err != nil {
		return nil, err
	}
	f, err := copyFile(source, own, base, want)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errGone // Remove of a process that had the lock before, or has none
	}
	return f, err
}

// private opens a directory of ours in dir and makes it if it is not there. It gives an error for
// what others have made under that name or may write to. Only a user that may rename everything in
// dir can put something else in its place, and what is open is not affected by that.
func private(dir, name string) (*os.Root, error) {
	above, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	if err := above.Mkdir(name, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return openPrivate(above, name)
}

func openPrivate(above *os.Root, name string) (*os.Root, error) {
	there, err := above.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errGone
	}
	if err == nil && !there.IsDir() {
		return nil, fmt.Errorf("%s is there and is no directory: it is not ours", name)
	}
	own, err := above.OpenRoot(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	info, err := own.Stat(".") // of what is open
	if err == nil {
		err = checkPrivate(name, info, os.Geteuid())
	}
	if err != nil {
		own.Close()
		return nil, err
	}
	return own, nil
}

// checkPrivate returns an error if others than the user uid may change what is in a directory.
func checkPrivate(name string, info os.FileInfo, uid int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(stat.Uid) != uid:
		return fmt.Errorf("%s is there and belongs to somebody else", name)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is there and open to others (mode %04o)", name, info.Mode().Perm())
	}
	return nil
}

// Remove removes a copy with its directory, if they are there and ours; running processes keep the
// file until they end.
func Remove(path string) {
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return
	}
	defer above.Close()
	own, err := openPrivate(above, filepath.Base(dir))
	if err != nil {
		return
	}
	defer own.Close()
	own.Remove(base)
	above.Remove(filepath.Base(dir)) // unless another process makes a copy there
}

// copyFile makes the copy under a temporary name, reads it back to check it, and then renames it.
func copyFile(source string, own *os.Root, base, want string) (*os.File, error) {
	in, err := os.Open(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, plain(err))
	}
	defer in.Close()
	temporary := base + "." + rand.Text()
	out, err := own.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return nil, err
	}
	defer own.Remove(temporary) // has no effect after the rename
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, err
	}
	f, err := own.Open(temporary)
	if err != nil {
		return nil, err
	}
	found, err := hashOf(f)
	if err == nil && found != want {
		err = fmt.Errorf("the copy is not what it should be (SHA-256 %.12s…, not %.12s…): another build, or a bad disk", found, want)
	}
	if err == nil {
		err = own.Rename(temporary, base)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
