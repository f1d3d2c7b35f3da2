// Notes to the user, given once: a program has no debugging symbols, a source file is
// missing or newer than the program.

package debugger

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"sdm/protocol"
)

// elsewhereHint tells how gdb finds sources that were moved.
const elsewhereHint = "if it is elsewhere: directory DIR, or set substitute-path FROM TO"

// adviseOnce sends a note about a file, unless it was sent before.
func (m *Machine) adviseOnce(file, text string) {
	if m.advised[file] {
		return
	}
	if m.advised == nil {
		m.advised = map[string]bool{}
	}
	m.advised[file] = true
	m.Event(protocol.KindNote, protocol.Note{Text: text})
}

// textOf returns the source line of a frame; "" if it has none.
func (m *Machine) textOf(f frame) (string, error) {
	if f.Full == "" || f.Line <= 0 {
		return "", nil
	}
	lines, err := m.Host.lines(f.Full, f.Line, f.Line)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return strings.TrimRight(lines[0], "\r\n"), nil
}

// lineOf returns the source line of a frame that is shown, or "", and notes what is
// wrong with the file.
func (m *Machine) lineOf(f frame) string {
	text, err := m.textOf(f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.adviseOnce(f.Full, fmt.Sprintf("%s: No such file or directory. (%s)", f.File, elsewhereHint))
	case err == nil && text != "":
		m.compareAge(f)
	}
	return text
}

// compareAge warns, as gdb does, of a source that is newer than the program.
func (m *Machine) compareAge(f frame) {
	if m.Host.Newer == nil || m.advised[f.Full] {
		return
	}
	addr, err := strconv.ParseUint(f.addr, 0, 64)
	if err == nil && m.Host.Newer(f.Full, addr) {
		m.adviseOnce(f.Full, "warning: Source file is more recent than executable. ("+f.File+")")
	}
}

// adviseSymbols warns at the first stop without a line number of a program that was
// compiled without -g.
func (m *Machine) adviseSymbols() {
	if m.Host.Bare == nil {
		return
	}
	bare := m.Host.Bare
	m.Host.Bare = nil // answered
	if program := bare(); program != "" {
		m.Event(protocol.KindNote, protocol.Note{Text: "warning: no debugging symbols found in " + program + " (without -g there are neither lines nor variables)"})
	}
}
