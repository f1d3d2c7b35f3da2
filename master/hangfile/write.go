// Writing of hang files.

package hangfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
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
