// Writing of hang files.

package hangfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"sdm/master/session"
	"sdm/protocol/canonical"
)

// plainSize is the size in bytes up to which files are plain text. Larger ones, of jobs with many different stacks or
// with scattered rank sets, are compressed to about a tenth.
const plainSize = 1 << 20

// Write writes the file as JSON: a field in each line, and lists with an element in each line, for less and grep.
// Above 1 MiB it is compressed with gzip. What is beyond the bounds of Read is cut: long texts and lists, and in a
// file that is too long the edges of the wait graph, then values and output.
func (f *File) Write(w io.Writer) error {
	b, err := f.within(MaxSize)
	if err != nil {
		return err
	}
	if len(b) <= plainSize {
		_, err := w.Write(b)
		return err
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(b); err != nil {
		return err
	}
	return z.Close()
}

// within returns the JSON text in at most so many bytes.
func (f *File) within(most int) ([]byte, error) {
	x := f.fitted()
	if err := x.check(); err != nil {
		return nil, err
	}
	b := x.encode()
	for step := 0; len(b) > most; step++ {
		if step == smallerSteps {
			return nil, fmt.Errorf("hang file: %d bytes are more than %d", len(b), most)
		}
		x = x.smaller(step)
		b = x.encode()
	}
	return b, nil
}

// encode returns the JSON text.
func (f *File) encode() []byte {
	var b bytes.Buffer
	v := reflect.ValueOf(*f)
	before := "{\n"
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if options != "" && (v.Field(i).IsZero() || v.Field(i).Kind() == reflect.Slice && v.Field(i).Len() == 0) {
			continue
		}
		b.WriteString(before + `"` + name + `": `)
		encodeValue(&b, v.Field(i))
		before = ",\n"
	}
	b.WriteString("\n}\n")
	return session.Escaped(b.Bytes(), 0)
}

// encodeValue writes a value, a slice with an element in each line.
func encodeValue(b *bytes.Buffer, v reflect.Value) {
	if v.Kind() != reflect.Slice {
		b.Write(canonical.JSON(v.Interface()))
		return
	}
	before := "[\n"
	for i := range v.Len() {
		b.WriteString(before)
		b.Write(canonical.JSON(v.Index(i).Interface()))
		before = ",\n"
	}
	b.WriteString("\n]")
}

// maxNames bounds the names that Save tries.
const maxNames = 10000

// Save writes a new file and returns its path. The file appears under its name only when it is complete, and none is
// replaced: if path is taken, it is path-2, path-3 and so on, with the number in front of an extension .html or .json.
// Only its owner may read it: it holds values and command lines of the job.
func Save(path string, write func(io.Writer) error) (string, error) {
	return SaveMode(path, OwnMode, write)
}

// OwnMode is the mode of files of Save, whatever the umask is.
const OwnMode os.FileMode = 0o600

// SaveMode is Save with another mode, for users who share files; 0 is OwnMode.
func SaveMode(path string, mode os.FileMode, write func(io.Writer) error) (string, error) {
	t, err := temporary(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer os.Remove(t.Name())
	err = write(t)
	if err == nil && mode != 0 {
		err = t.Chmod(mode)
	}
	if err == nil {
		err = t.Sync()
	}
	if closed := t.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	for n := 1; n < maxNames; n++ {
		name := numbered(path, n)
		switch err := publish(t.Name(), name); {
		case err == nil:
			return name, nil
		case !os.IsExist(err):
			return "", err
		}
	}
	return "", fmt.Errorf("%s: there are %d such files (remove some)", path, maxNames-1)
}

// temporary makes a file with another name.
func temporary(dir string) (t *os.File, err error) {
	for n := range maxNames {
		name := filepath.Join(dir, fmt.Sprintf(".sdm-%d-%d.part", os.Getpid(), n))
		t, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, OwnMode)
		if !os.IsExist(err) {
			break
		}
	}
	return t, err
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
