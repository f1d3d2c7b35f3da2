// Reading of files, which may come from anywhere.

package valuefile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// File is the content of a file.
type File struct {
	Head      Head
	Snapshots []Snapshot
	// Torn is the number of the line from which on the file cannot be read; 0: all of it was read.
	Torn int
}

const (
	// MaxSize bounds a file, in bytes.
	MaxSize  = 256 << 20
	maxTexts = 64 << 10 // bytes of an expression, a type
)

// ErrOther is the error for what is no file of values.
var ErrOther = errors.New("not a file of save values")

// Parse reads a file as far as it is whole. The error is ErrOther, or says that a newer sdm is needed.
func Parse(b []byte) (*File, error) {
	f := &File{}
	text, rest, _ := bytes.Cut(b, []byte("\n"))
	if !line(text, &f.Head) || f.Head.Format != FormatName {
		return nil, ErrOther
	}
	if err := checkVersion(f.Head); err != nil {
		return nil, err
	}
	var open *Snapshot
	for n := 2; len(rest) > 0; n++ {
		var ok bool
		if text, rest, ok = bytes.Cut(rest, []byte("\n")); !ok {
			f.Torn = n
			break
		}
		var l anyLine
		if !line(text, &l) || !f.add(&open, l) {
			f.Torn = n
			break
		}
	}
	if open != nil {
		open.Torn = true
		f.Snapshots = append(f.Snapshots, *open)
	}
	return f, nil
}

// anyLine has the fields of all lines after the first.
type anyLine struct {
	Snapshot int `json:"snapshot"`
	End      int `json:"end"`
	Values   int `json:"values"`
	Value
}

// add adds a line to the open snapshot, and reports whether it may stand there.
func (f *File) add(open **Snapshot, l anyLine) bool {
	switch s := *open; {
	case l.Snapshot != 0:
		if s != nil || l.Snapshot != len(f.Snapshots)+1 {
			return false
		}
		*open = &Snapshot{Number: l.Snapshot, Ranks: l.Ranks}
	case s == nil:
		return false
	case l.End != 0:
		if l.End != s.Number || l.Values != len(s.Values) {
			return false
		}
		f.Snapshots, *open = append(f.Snapshots, *s), nil
	default:
		if !l.valid() {
			return false
		}
		s.Values = append(s.Values, l.Value)
	}
	return true
}

// valid reports whether the fields of a value fit one another.
func (v *Value) valid() bool {
	if v.Expr == "" || len(v.Expr)+len(v.Type)+len(v.By) > maxTexts || v.Ranks.IsEmpty() {
		return false
	}
	if v.Kind == "" {
		return v.Data == nil
	}
	n := v.Shape.Elements()
	return slices.Contains([]string{protocol.SignedKind, protocol.UnsignedKind, protocol.FloatingKind}, v.Kind) &&
		(v.Size == 1 || v.Size == 2 || v.Size == 4 || v.Size == 8) && (v.Kind != protocol.FloatingKind || v.Size >= 4) &&
		n > 0 && v.Stride > 0 && v.Stride&(v.Stride-1) == 0 && len(v.Data)/v.Size == (n+v.Stride-1)/v.Stride &&
		len(v.Data)%v.Size == 0
}

func checkVersion(h Head) error {
	first, _, _ := strings.Cut(h.Version, ".")
	known, _, _ := strings.Cut(FormatVersion, ".")
	major, err := strconv.Atoi(first)
	switch {
	case err != nil || major < 1:
		return fmt.Errorf("the file of values has %q as its version", protocol.Clip(h.Version))
	case first != known:
		return fmt.Errorf("a file of values of format %s, written by sdm %s; this sdm reads format %s (use a newer one)", first, protocol.Clip(h.Sdm), known)
	}
	return nil
}

// Of returns the snapshot with a number, or nil.
func (f *File) Of(number int) *Snapshot {
	for i := range f.Snapshots {
		if f.Snapshots[i].Number == number {
			return &f.Snapshots[i]
		}
	}
	return nil
}
