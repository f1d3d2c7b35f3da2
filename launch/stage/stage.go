// Package stage lets programs run on a node from storage of the node: the sdm programs, copied
// (Put, Script), and a gdb with all that it needs, packed where it is installed (FindGDB) and
// unpacked where it is not (Receiver).
package stage

import (
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
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Put copies the program source into dir, which must exist, for one session, and returns the path
// of the copy. Several processes may call it at the same time: one copies, the others wait for it.
// An existing copy is used if its hash is the wanted one ("": that of source). The error says why
// dir cannot be used.
func Put(source, dir, session, want string) (string, error) {
	info, err := os.Stat(source)
	if err != nil {
		return "", err
	}
	if err := checkRoom(dir, 0); err != nil {
		return "", err
	}
	if want == "" {
		if want, err = Hash(source); err != nil {
			return "", err
		}
	}
	path := filepath.Join(dir, filepath.Base(source)+"-"+clean(session))
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", plain(err)
	}
	defer lock.Close() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	defer os.Remove(path + ".lock") // processes that wait for it have it open
	if found, err := Hash(path); err == nil && found == want {
		return path, nil
	}
	if err := checkRoom(dir, info.Size()); err != nil {
		return "", err
	}
	if err := copyFile(source, path, want); err != nil {
		return "", err
	}
	return path, nil
}

// Remove removes a copy, if it is there; running processes keep it until they end.
func Remove(path string) {
	os.Remove(path)
	os.Remove(path + ".lock")
}

// clean returns a text that stands for a name of any characters in a file name.
func clean(name string) string {
	if name == "" {
		return "session"
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// copyFile makes the copy under a temporary name, reads it back to check it, and then renames it.
func copyFile(source, path, want string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(path), ".sdm-")
	if err != nil {
		return plain(err)
	}
	defer os.Remove(out.Name()) // has no effect after the rename
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(0o700), out.Close()); err != nil {
		return plain(err)
	}
	switch found, err := Hash(out.Name()); {
	case err != nil:
		return err
	case found != want:
		return fmt.Errorf("the copy is not what it should be (SHA-256 %.12s…, not %.12s…): another build, or a bad disk", found, want)
	}
	return os.Rename(out.Name(), path)
}
