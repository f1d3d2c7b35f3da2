// Arguments of frames, as gdb's command line shows them.

package gdb

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// showFrames is the line for gdb's command line that shows levels first to last as its backtrace does.
// GDB/MI has no list of arguments that obeys "set print frame-arguments": -stack-list-arguments reads whole
// objects, and Fortran arrays whose bounds have no values yet keep gdb busy for ever, or end it.
func showFrames(first, last int) string {
	return "frame apply level " + strconv.Itoa(first) + "-" + strconv.Itoa(last) + " echo"
}

// warned tells what gdb has warned of while it showed frames: of a pretty-printer that failed.
func (m *machine) warned(a answer) {
	if text := strings.TrimSpace(a.warned); text != "" {
		m.event(protocol.KindNote, protocol.Note{Text: text})
	}
}

// addArguments gives frames the arguments that the text of showFrames shows.
func addArguments(frames []frame, text string) {
	for line := range strings.Lines(text) {
		found := shownLevel.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		level, _ := strconv.Atoi(found[1])
		i := slices.IndexFunc(frames, func(f frame) bool { return f.Level == level })
		if i < 0 {
			continue
		}
		if list, ok := argumentList(strings.TrimSuffix(line[len(found[0]):], "\n"), frames[i]); ok {
			frames[i].Args, frames[i].values = splitArguments(list)
		}
	}
}

// shownAddress is what gdb shows in front of the function of a frame that is not at the beginning of a line.
var shownAddress = regexp.MustCompile(`^0x[0-9a-f]+ in `)

// argumentList cuts "n=5, x=..." out of "0x5555 in compute (n=5, x=...) at work.c:31".
func argumentList(line string, f frame) (list string, ok bool) {
	line = strings.TrimLeft(line, " ")
	line = line[len(shownAddress.FindString(line)):]
	list, ok = strings.CutPrefix(line, f.Func+" (")
	if !ok {
		return "", false
	}
	for _, place := range []string{" at " + f.File + ":" + strconv.Itoa(f.Line), " from " + f.library, ""} {
		if list, ok := strings.CutSuffix(list, ")"+place); ok {
			return list, true
		}
	}
	return "", false
}

// splitArguments splits "n=n@entry=5, text=0x1 \"a, b=\", m=..." into names and values. The list of
// "set print frame-arguments presence" is "...", a name without a value.
func splitArguments(list string) (names, values []string) {
	for list != "" {
		n := nameLength(list)
		if n == 0 {
			return append(names, list), append(values, "")
		}
		name := list[:n]
		list = list[n+1:]
		end := valueLength(list)
		value := list[:end]
		list = strings.TrimPrefix(list[end:], ", ")
		names = append(names, name)
		if same, ok := strings.CutPrefix(value, name+"@entry="); ok {
			value = same
			names, values = append(names, name+"@entry"), append(values, listed(value))
		}
		values = append(values, listed(value))
	}
	return names, values
}

// nameLength is the length of the name of an argument that begins a text and has "=" behind it; 0 where none does.
func nameLength(text string) int {
	for i := range len(text) {
		switch {
		case text[i] == '=':
			return i
		case isNameByte(text[i], false) || text[i] >= 0x80 || text[i] == '.' || text[i] == '@' || text[i] == '$':
		default:
			return 0
		}
	}
	return 0
}

// valueLength is the length of a value: as far as ", NAME=" outside of texts and brackets, or the end.
func valueLength(text string) int {
	if strings.HasPrefix(text, "<error ") { // gdb's words, with apostrophes
		if i := strings.Index(text, ">, "); i >= 0 {
			return i + 1
		}
		return len(text)
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		case ',':
			if depth <= 0 && strings.HasPrefix(text[i:], ", ") && nameLength(text[i+2:]) > 0 {
				return i
			}
		}
	}
	return len(text)
}

// quotedLength is the length of a text in quotation marks; 1 where it has no end.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 1
}
