// Package secret provides the key by which the processes of one user's sdm authenticate each
// other.
package secret

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Key is a shared secret. It is never printed: String and GoString hide it.
type Key [32]byte

// String keeps the key out of logs.
func (Key) String() string { return "(secret)" }

// GoString keeps the key out of %#v as well.
func (Key) GoString() string { return "secret.Key{}" }

// Fresh returns a new key for one session.
func Fresh() Key {
	var k Key
	rand.Read(k[:]) // never fails
	return k
}

// Read reads a key as Write writes it: 32 raw bytes, from an inherited pipe. It reads no further.
func Read(r io.Reader) (Key, error) {
	var k Key
	if _, err := io.ReadFull(r, k[:]); err != nil {
		return Key{}, fmt.Errorf("secret: %w", err)
	}
	return k, nil
}

// Write writes the raw key.
func (k Key) Write(w io.Writer) error {
	_, err := w.Write(k[:])
	return err
}

// UserPath returns the path of the user's own key: $XDG_CONFIG_HOME/sdm/secret.
func UserPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no place for the secret: %w (set HOME, or name a file with --secret-file)", err)
	}
	return filepath.Join(dir, "sdm", "secret"), nil
}

// User reads the user's own key, which it makes on first use. Two programs that make it at the
// same time get the same key.
func User() (Key, error) {
	path, err := UserPath()
	if err != nil {
		return Key{}, err
	}
	k, err := File(path)
	if !errors.Is(err, os.ErrNotExist) {
		return k, err
	}
	if err := create(path); err != nil && !errors.Is(err, os.ErrExist) {
		return Key{}, fmt.Errorf("make the secret: %w", err)
	}
	return File(path)
}

// create writes a new key to a temporary file and links it to path, so that a partial key is never
// read and an existing one is never replaced.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".secret-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	k := Fresh()
	_, err = f.WriteString(hex.EncodeToString(k[:]) + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// File reads a key from a file of 64 hexadecimal digits. A file that other users can access is
// refused: with the key they could run code as this user.
func File(path string) (Key, error) {
	// O_NONBLOCK: opening a FIFO of that name must not block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Key{}, fmt.Errorf("secret: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of the open file, which cannot be replaced
	if err != nil {
		return Key{}, fmt.Errorf("secret: %w", err)
	}
	if err := checkPrivate(path, info, os.Geteuid()); err != nil {
		return Key{}, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return Key{}, fmt.Errorf("secret: %w", err)
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != len(Key{}) {
		return Key{}, fmt.Errorf("secret file %s: want 64 hexadecimal digits (remove it, and a new one is made)", path)
	}
	return Key(b), nil
}

// checkPrivate returns an error if the file is not a regular one that only the user can access.
func checkPrivate(path string, info os.FileInfo, uid int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("secret file %s: not a regular file", path)
	case !ok || int(stat.Uid) != uid:
		return fmt.Errorf("secret file %s: belongs to somebody else (use one of your own)", path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("secret file %s: others may read or write it, mode %04o (chmod 600 it; if others are on this machine, remove it)", path, info.Mode().Perm())
	}
	return nil
}
