// The directory of the session files.
//
// Files are opened below an open directory, without following links, and are checked by their descriptors: nobody
// can exchange what has been checked.

package sessions

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sdm/protocol/userfile"
)

// userFolder returns the path of this user's session files (XDG Base Directory Specification).
func userFolder() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // the specification: such a path is to be ignored
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return "", errors.New("there is no home directory for it (set HOME, or XDG_STATE_HOME)")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "sdm", "sessions"), nil
}

// folder is the open directory.
type folder struct {
	path string
	uid  int // the user
	f    *os.File
}

// maxNames bounds the names that are read of a directory: more than sessions are possible, and a few of others.
const maxNames = 2 * maxNumber

// openFolder opens the directory of the user uid. With create it is made, and is made private.
func openFolder(path string, uid int, create bool) (*folder, error) {
	if create {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	d := &folder{path, uid, f}
	if err := d.check(create); err != nil {
		f.Close()
		return nil, err
	}
	return d, nil
}

// check refuses a directory in which others can change files. With repair it is made private.
func (d *folder) check(repair bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(d.f.Fd()), &st); err != nil {
		return err
	}
	mode := st.Mode & 0o777
	switch {
	case int(st.Uid) != d.uid:
		return fmt.Errorf("the directory belongs to user %d, not to %d", st.Uid, d.uid)
	case repair && mode != 0o700:
		return d.f.Chmod(0o700)
	case mode&0o022 != 0:
		return fmt.Errorf("others can write into the directory, mode %04o (chmod 700 it)", mode)
	}
	return nil
}

func (d *folder) close() { d.f.Close() }

// names returns the names of all files, in order of the alphabet.
func (d *folder) names() ([]string, error) {
	if _, err := d.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := d.f.Readdirnames(maxNames)
	if err != nil && err != io.EOF {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

// openAt opens or makes a file, and never one behind a link.
func (d *folder) openAt(name string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(d.f.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), name), nil
		case unix.EINTR:
			continue
		case unix.ELOOP:
			return nil, errors.New("it is a symbolic link")
		}
		return nil, err
	}
}

// content is what is in a file.
type content struct {
	state   State
	bytes   []byte    // none: the number is taken, but nothing is written yet
	changed time.Time // modification time
	ours    bool      // it is a regular file of the user
}

// read reads a file. With an error, what is known of the file is returned as well.
func (d *folder) read(name string) (content, error) {
	var c content
	f, err := d.openAt(name, unix.O_RDONLY)
	if err != nil {
		return c, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return c, err
	}
	regular := st.Mode&unix.S_IFMT == unix.S_IFREG
	c.changed, c.ours = time.Unix(st.Mtim.Unix()), regular && int(st.Uid) == d.uid
	switch {
	case !regular:
		return c, errors.New("it is not a regular file")
	case !c.ours:
		return c, fmt.Errorf("it belongs to user %d, not to %d", st.Uid, d.uid)
	case st.Mode&0o077 != 0:
		return c, fmt.Errorf("others may read or write it, mode %04o", st.Mode&0o777)
	case st.Size > maxFile:
		return c, fmt.Errorf("it is longer than %s", userfile.Size(maxFile))
	}
	if c.bytes, err = io.ReadAll(io.LimitReader(f, maxFile)); err != nil || len(c.bytes) == 0 {
		return c, err
	}
	if c.state, err = parse(c.bytes, d.uid); err == nil && c.state.ID+fileSuffix != name {
		err = fmt.Errorf("it is that of session %s", c.state.ID)
	}
	return c, err
}

// claim makes an empty file; os.ErrExist: somebody else has.
func (d *folder) claim(name string) error {
	f, err := d.openAt(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	return f.Close()
}

// temporary begins the names of files that are being written.
const temporary = ".new-"

// write replaces a file: readers find the old content or the new one.
func (d *folder) write(name string, b []byte) error {
	beside := temporary + token()
	f, err := d.openAt(beside, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil { // a full disk may show at the end only
		err = unix.Renameat(int(d.f.Fd()), beside, int(d.f.Fd()), name)
	}
	if err != nil {
		d.remove(beside) // the first error says more
	}
	return err
}

// token returns 32 random hexadecimal digits.
func token() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func (d *folder) remove(name string) error { return unix.Unlinkat(int(d.f.Fd()), name, 0) }

// errBusy is the error of lock if somebody else has it.
var errBusy = errors.New("another sdm removes old files")

// lock is held by whoever removes files of sessions that have ended: between the look at a file and its removal nobody
// else can remove it, and so nobody can put a new one in its place. It ends with the process at the latest.
func (d *folder) lock() (unlock func(), err error) {
	f, err := d.openAt(".lock", unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			err = errBusy
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}

// isSessionFile reports whether a file name is that of a session.
func isSessionFile(name string) bool {
	id, ok := strings.CutSuffix(name, fileSuffix)
	return ok && number(id) > 0
}
