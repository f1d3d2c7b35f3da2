// Archives of files, packed and unpacked within bounds.

package stage

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Archive is a packed gdb, in a file that has been unlinked. The caller must close it.
type Archive struct {
	*os.File
	Hash     string // SHA-256, in hexadecimal
	Packed   int64  // size of the file in bytes
	Unpacked int64  // bytes of disk that its files need
}

// maxUnpacked bounds the unpacked size of an archive, in bytes: a gdb with all that it needs is a
// tenth of it.
const maxUnpacked = 2 << 30

// maxDeep bounds the depth of directories: links can form a cycle.
const maxDeep = 24

// packer makes an archive. After an error its methods do nothing; finish returns the error.
type packer struct {
	out      *os.File
	sum      hash.Hash
	zip      *gzip.Writer
	tar      *tar.Writer
	names    map[string]bool
	unpacked int64
	err      error
}

func newPacker() (*packer, error) {
	out, err := os.CreateTemp("", "sdm-gdb-")
	if err != nil {
		return nil, err
	}
	os.Remove(out.Name()) // nothing is left if this process is killed
	p := &packer{out: out, sum: sha256.New(), names: map[string]bool{}}
	// The fastest level: on a tree of nodes a better compression takes more time than its smaller
	// size saves in transfer.
	p.zip, _ = gzip.NewWriterLevel(io.MultiWriter(out, p.sum), gzip.BestSpeed)
	p.tar = tar.NewWriter(p.zip)
	return p, nil
}

// drop discards the archive.
func (p *packer) drop() { p.out.Close() }

// has reports whether a file below a directory was packed; dir ends with a slash.
func (p *packer) has(dir string) bool {
	for name := range p.names {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// begin writes the header of a file, whose contents the caller writes next. It reports whether the
// file is to be packed.
func (p *packer) begin(h *tar.Header) bool {
	if p.err != nil || p.names[h.Name] {
		return false
	}
	p.names[h.Name] = true
	h.Typeflag = tar.TypeReg
	if p.unpacked += onDisk(h.Size); p.unpacked > maxUnpacked {
		p.err = fmt.Errorf("it would take more than %d MB", maxUnpacked>>20)
		return false
	}
	p.err = p.tar.WriteHeader(h)
	return p.err == nil
}

// blockSize is the multiple to which a file is rounded up on disk, in bytes.
const blockSize = 4096

// onDisk returns a bound of the space that a file takes on disk, in bytes. An empty file counts as one
// block.
func onDisk(size int64) int64 { return (size + blockSize) &^ (blockSize - 1) }

// text packs a script.
func (p *packer) text(name, text string) {
	if p.begin(&tar.Header{Name: name, Mode: 0o700, Size: int64(len(text))}) {
		_, p.err = io.WriteString(p.tar, text)
	}
}

// file packs the contents of a file; links are followed.
func (p *packer) file(name, file string) {
	if p.err != nil || p.names[name] {
		return
	}
	in, err := os.Open(file)
	if err != nil {
		p.err = err
		return
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		p.err = errors.Join(err, fmt.Errorf("%s is no file", file))
		return
	}
	mode := int64(0o600)
	if info.Mode()&0o111 != 0 {
		mode = 0o700
	}
	// The modification time is kept: compiled Python modules contain the time of their source.
	if p.begin(&tar.Header{Name: name, Mode: mode, Size: info.Size(), ModTime: info.ModTime()}) {
		if _, err := io.CopyN(p.tar, in, info.Size()); err != nil {
			p.err = fmt.Errorf("%s: %w", file, err)
		}
	}
}

// tree packs the files below a directory, except those that skip names. Files that cannot be read
// are left out: this user's gdb cannot use them here either.
func (p *packer) tree(name, dir string, skip func(name string, dir bool) bool) {
	p.below(name, dir, skip, 0)
}

func (p *packer) below(name, dir string, skip func(string, bool) bool, depth int) {
	entries, err := os.ReadDir(dir)
	if err != nil || depth > maxDeep {
		return
	}
	for _, e := range entries {
		from, to := filepath.Join(dir, e.Name()), path.Join(name, e.Name())
		info, err := os.Stat(from)
		switch {
		case p.err != nil:
			return
		case err != nil || skip != nil && skip(e.Name(), info.IsDir()):
		case info.IsDir():
			p.below(to, from, skip, depth+1)
		case info.Mode().IsRegular() && readable(from):
			p.file(to, from)
		}
	}
}

func readable(file string) bool {
	f, err := os.Open(file)
	if err == nil {
		f.Close()
	}
	return err == nil
}

func (p *packer) finish() (*Archive, error) {
	err := errors.Join(p.err, p.tar.Close(), p.zip.Close())
	if p.err != nil { // the others are caused by it
		err = p.err
	}
	if err != nil {
		return nil, err
	}
	a := &Archive{File: p.out, Hash: hex.EncodeToString(p.sum.Sum(nil)), Unpacked: p.unpacked}
	if a.Packed, err = p.out.Seek(0, io.SeekCurrent); err == nil {
		_, err = p.out.Seek(0, io.SeekStart)
	}
	return a, err
}

// unpack extracts the files of an archive below dir, at most most bytes of disk. It makes regular
// files and their directories only, and none outside dir.
func unpack(in io.Reader, dir string, most int64) error {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	made := map[string]bool{}
	for t := tar.NewReader(zip); ; {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) || h.Size < 0:
			return fmt.Errorf("%q does not belong into an archive of a gdb", h.Name)
		}
		if most -= onDisk(h.Size); most < 0 {
			return errors.New("it takes more than it was said to")
		}
		file := filepath.Join(dir, filepath.FromSlash(h.Name))
		if parent := filepath.Dir(file); !made[parent] {
			if err := os.MkdirAll(parent, 0o700); err != nil {
				return plain(err)
			}
			made[parent] = true
		}
		if err := unpackFile(t, file, h); err != nil {
			return err
		}
	}
}

func unpackFile(t *tar.Reader, file string, h *tar.Header) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, os.FileMode(h.Mode)&0o700|0o600)
	if err != nil {
		return plain(err)
	}
	_, err = io.Copy(out, t)
	if err = errors.Join(err, out.Close()); err != nil {
		return plain(err)
	}
	return os.Chtimes(file, h.ModTime, h.ModTime)
}
