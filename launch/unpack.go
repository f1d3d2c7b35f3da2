// Unpacking of core files that a system has compressed.

package launch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// maxCore bounds the size of an unpacked core file in bytes, with its holes: a packed file of 1 GB
// can have as much as this in zeros.
const maxCore = 1 << 40

// Unpacker unpacks core files into a folder.
type Unpacker struct {
	Dir  string // has mode 0700; files in it are their owner's, too: a core file has all data of a process
	Disk int64  // bytes of disk that further files may take
}

// NewUnpacker returns an unpacker with a new folder below a folder. Its files take at most half of the disk that is
// free.
func NewUnpacker(below string) (*Unpacker, error) {
	below, err := filepath.Abs(below) // gdb has another working directory
	if err != nil {
		return nil, err
	}
	var room syscall.Statfs_t
	if err := syscall.Statfs(below, &room); err != nil {
		return nil, fmt.Errorf("%s: %w", below, err)
	}
	dir, err := os.MkdirTemp(below, "sdm-core-")
	if err != nil {
		return nil, err
	}
	return &Unpacker{Dir: dir, Disk: int64(room.Bavail) * room.Bsize / 2}, nil
}

// Remove removes the folder with all files.
func (u *Unpacker) Remove() error { return os.RemoveAll(u.Dir) }

// Core unpacks a core file into a new file, and returns its path. Blocks of zeros take no disk. A file
// that is not a core file, or is damaged, is left out with an error of one line. The end of ctx ends it.
func (u *Unpacker) Core(ctx context.Context, path, name string) (string, error) {
	in, head, err := openCore(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	i := packedBy(head)
	if i < 0 {
		return "", fmt.Errorf("%s: not a packed file", path)
	}
	whole := filepath.Join(u.Dir, name)
	out, err := os.OpenFile(whole, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	var written int64
	from := func(r io.Reader) (err error) {
		written, err = sparse(ctx, out, r, u.Disk)
		return err
	}
	if command := packed[i].unpack; command == nil {
		err = gunzip(in, from)
	} else {
		err = pipe(ctx, in, command, from)
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		program := packed[i].unpack[0]
		err = fmt.Errorf("a packed file, and there is no %s on this host (install it, or unpack the file first: %s)", program, packed[i].hint)
	case errors.Is(err, errNoRoom):
		err = fmt.Errorf("unpacked it takes more than the %d MB that may be used of the disk of %s (set TMPDIR)", u.Disk>>20, u.Dir)
	}
	if err != nil {
		os.Remove(whole)
		return "", fmt.Errorf("%s: %w", path, err)
	}
	u.Disk -= written
	return whole, nil
}

// gunzip passes what is in a file of gzip.
func gunzip(in io.Reader, to func(io.Reader) error) error {
	r, err := gzip.NewReader(in)
	if err == nil {
		err = to(r)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("cut short (gzip)")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("damaged (%w)", err)
	}
	return err
}

// pipe passes what a command makes of a file. The command ends before pipe returns.
func pipe(ctx context.Context, in *os.File, command []string, to func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	said := &firstLine{}
	cmd.Stdin, cmd.Stderr = in, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us: it ends ctx
	r, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = to(r)
	if err != nil {
		cancel()
	}
	ended := cmd.Wait()
	switch {
	case ended != nil && (err == nil || errors.Is(err, errNothing)):
		return fmt.Errorf("damaged (%s: %s)", command[0], strings.TrimPrefix(said.or(ended), command[0]+": "))
	case err != nil:
		return err
	}
	return nil
}

// firstLine keeps the first line of what is written, with a bound.
type firstLine struct{ text []byte }

const mostSaid = 200 // bytes of a message

// Write takes all of b.
func (f *firstLine) Write(b []byte) (int, error) {
	f.text = append(f.text, b[:min(len(b), mostSaid-len(f.text))]...)
	return len(b), nil
}

// or returns the line, or err if there is none.
func (f *firstLine) or(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(f.text)), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

var (
	errNoRoom  = errors.New("no room")
	errNothing = errors.New("an empty file when it is unpacked")
)

const (
	sparsePiece = 1 << 20 // bytes that are read at once
	sparseBlock = 4096    // bytes; file systems have holes of this size
)

// sparse copies a core file without its blocks of zeros, and returns how many bytes it has written. disk bounds them.
func sparse(ctx context.Context, out *os.File, in io.Reader, disk int64) (written int64, err error) {
	piece, zeros := make([]byte, sparsePiece), make([]byte, sparseBlock)
	var at int64
	for {
		n, err := fill(in, piece)
		switch {
		case ctx.Err() != nil:
			return written, context.Cause(ctx)
		case err != nil && err != io.EOF:
			return written, err
		case at == 0 && n == 0:
			return written, errNothing
		case at == 0 && notCore(piece[:min(n, coreHead)]) != "":
			return written, fmt.Errorf("unpacked it is %s", notCore(piece[:min(n, coreHead)]))
		case at+int64(n) > maxCore:
			return written, fmt.Errorf("unpacked it has more than %d GB", maxCore>>30)
		}
		for i := 0; i < n; i += sparseBlock {
			block := piece[i:min(i+sparseBlock, n)]
			if bytes.Equal(block, zeros[:len(block)]) {
				continue
			}
			if written += int64(len(block)); written > disk {
				return written, errNoRoom
			}
			if _, err := out.WriteAt(block, at+int64(i)); err != nil {
				return written, err
			}
		}
		at += int64(n)
		if err != nil {
			return written, out.Truncate(at)
		}
	}
}

// fill reads until b is full, or the first error. Other than io.ReadFull it tells the end of a file from one that is
// cut short.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}
