// Writing of files that a person names: whole, or not at all.

package userfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// OwnMode is the mode of new files that hold values and command lines of a job, whatever the umask is.
const OwnMode os.FileMode = 0o600

// maxNames bounds the names that are tried for a file.
const maxNames = 10000

// Create writes a new file and returns its path. The file appears under its name only when it is complete, and none is
// replaced: if path is taken, it is path-2, path-3 and so on, with the number in front of an extension .html or .json.
// Mode 0 is OwnMode.
func Create(path string, mode os.FileMode, write func(io.Writer) error) (string, error) {
	part, err := beside(path, OwnMode, mode, write)
	if err != nil {
		return "", err
	}
	defer os.Remove(part)
	for n := 1; n < maxNames; n++ {
		name := numbered(path, n)
		switch err := publish(part, name); {
		case err == nil:
			return name, nil
		case !os.IsExist(err):
			return "", err
		}
	}
	return "", fmt.Errorf("%s: there are %d such files (remove some)", path, maxNames-1)
}

// Replace writes a text to a file; mode 0 leaves the mode to the umask, or to the file that it replaces. A file that
// cannot be written as a whole, as on a full disk, does not appear, and one that was there is as before. Devices and
// pipes, and files that other names or users have, are written where they are.
func Replace(path, text string, mode os.FileMode) error {
	old, err := os.Lstat(path)
	if err == nil && !replaceable(old) {
		return os.WriteFile(path, []byte(text), 0o666)
	}
	if mode == 0 && old != nil {
		mode = old.Mode().Perm()
	}
	part, err := beside(path, 0o666, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if errors.Is(err, errNoPlace) && old != nil { // a directory of others, say
		return os.WriteFile(path, []byte(text), 0o666)
	}
	if err != nil {
		return err
	}
	defer os.Remove(part)
	return os.Rename(part, path)
}

// Append appends bytes to a file that is there. If they cannot be written as a whole, the file is as before.
func Append(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	before, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		if _, err = f.Write(b); err != nil {
			err = cmp.Or(err, f.Truncate(before))
		} else {
			err = f.Sync()
		}
	}
	return cmp.Or(err, f.Close())
}

// errNoPlace is wrapped by the error that there can be no file beside another one.
var errNoPlace = errors.New("no file can be made there")

// placeError is an error about a file that could not be made beside the user's.
type placeError struct{ error }

func (e placeError) Unwrap() []error { return []error{e.error, errNoPlace} }

// beside writes a file that is to take the name path, under another name in the same directory, which it returns. It
// is made with the permissions made, and gets the mode at the end, if that is not 0. Errors name path.
func beside(path string, made, mode os.FileMode, write func(io.Writer) error) (name string, err error) {
	t, err := temporary(filepath.Dir(path), made)
	if err != nil {
		return "", placeError{named(path, err)}
	}
	err = write(t)
	if err == nil && mode != 0 {
		err = t.Chmod(mode)
	}
	if err == nil {
		err = t.Sync()
	}
	if err = cmp.Or(err, t.Close()); err != nil {
		os.Remove(t.Name())
		return "", named(path, err)
	}
	return t.Name(), nil
}

// temporary makes a file with a name that no other file has.
func temporary(dir string, mode os.FileMode) (t *os.File, err error) {
	for n := range maxNames {
		name := filepath.Join(dir, fmt.Sprintf(".sdm-%d-%d.part", os.Getpid(), n))
		t, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !os.IsExist(err) {
			break
		}
	}
	return t, err
}

// named returns an error about the file that the user has named, not the one beside it.
func named(path string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		return &fs.PathError{Op: cause.Op, Path: path, Err: cause.Err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// replaceable reports whether another file may take the place of one.
func replaceable(old os.FileInfo) bool {
	stat, ok := old.Sys().(*syscall.Stat_t)
	return ok && old.Mode().IsRegular() && stat.Nlink == 1 && int(stat.Uid) == os.Geteuid()
}

// publish gives a complete file its name; the error is ErrExist if that is taken. Where the file system has no hard
// links, an empty file holds the name for a moment.
func publish(from, name string) error {
	err := os.Link(from, name)
	if err == nil || os.IsExist(err) {
		return err
	}
	held, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, OwnMode)
	if err != nil {
		return err
	}
	held.Close()
	return os.Rename(from, name)
}

// numbered returns the n-th name of a file.
func numbered(path string, n int) string {
	if n == 1 {
		return path
	}
	extension := filepath.Ext(path)
	if extension != ".html" && extension != ".json" {
		extension = ""
	}
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, extension), n, extension)
}
