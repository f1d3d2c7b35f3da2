// Notes to the user, given once: a program has no debugging symbols, a source file is
// missing or newer than the program.

package values

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"sdm/protocol"
)

// elsewhereHint says how gdb finds sources that were moved.
const elsewhereHint = "if it is elsewhere: directory DIR, or set substitute-path FROM TO"

// adviseOnce sends a note about a file, unless it was sent before.
func (fr *Frames) adviseOnce(file, text string) {
	if fr.advised[file] {
		return
	}
	if fr.advised == nil {
		fr.advised = map[string]bool{}
	}
	fr.advised[file] = true
	fr.Event(protocol.KindNote, protocol.Note{Text: text})
}

// TextOf returns the source line of a frame; "" if it has none.
func (fr *Frames) TextOf(f Frame) (string, error) {
	if f.Full == "" || f.Line <= 0 {
		return "", nil
	}
	lines, err := fr.Sources().lines(f.Full, f.Line, f.Line)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return strings.TrimRight(lines[0], "\r\n"), nil
}

// LineOf returns the source line of a frame that is shown, or "". If the file is missing, or newer than
// the program, it sends a note, once for each file.
func (fr *Frames) LineOf(f Frame) string {
	text, err := fr.TextOf(f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fr.adviseOnce(f.Full, fmt.Sprintf("%s: No such file or directory. (%s)", f.File, elsewhereHint))
	case err == nil && text != "":
		fr.compareAge(f)
	}
	return text
}

// compareAge warns, as gdb does, of a source that is newer than the program.
func (fr *Frames) compareAge(f Frame) {
	if fr.advised[f.Full] {
		return
	}
	addr, err := strconv.ParseUint(f.Addr, 0, 64)
	if err == nil && fr.Sources().newer(f.Full, addr) {
		fr.adviseOnce(f.Full, "warning: Source file is more recent than executable. ("+f.File+")")
	}
}

// AdviseSymbols warns at the first stop without a line number of a program that was
// compiled without -g.
func (fr *Frames) AdviseSymbols() {
	if fr.askedSymbols {
		return
	}
	fr.askedSymbols = true
	if program := fr.Sources().noSymbols(); program != "" {
		fr.Event(protocol.KindNote, protocol.Note{Text: "warning: no debugging symbols found in " + program + " (without -g there are neither lines nor variables)"})
	}
}

// OmitAdviceOf makes fr omit the notes about source files that other has sent.
func (fr *Frames) OmitAdviceOf(other *Frames) { fr.advised = other.advised }
