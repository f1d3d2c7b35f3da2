// Arguments of frames, as gdb's command line shows them.

package values

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// showFrames returns the line for gdb's command line that shows levels first to last as backtrace does.
// GDB/MI has no list of arguments that obeys "set print frame-arguments": -stack-list-arguments reads whole
// objects, and Fortran arrays whose bounds have no values yet keep gdb busy for ever, or end it.
func showFrames(first, last int) string {
	return "frame apply level " + strconv.Itoa(first) + "-" + strconv.Itoa(last) + " echo"
}

// reportWarnings sends gdb's warnings in an answer as a note, such as one that a pretty-printer has failed.
func (p *Printer) reportWarnings(a request.Answer) {
	if text := strings.TrimSpace(a.Warned); text != "" {
		p.Event(protocol.KindNote, protocol.Note{Text: text})
	}
}

// shownLevel matches the beginning of a frame: "#1  0x5555 in main () at work.c:45".
var shownLevel = pattern.New(`^#([0-9]+)\s`)

// addArguments gives frames the arguments that the text of showFrames shows.
func addArguments(frames []Frame, text string) {
	for line := range strings.Lines(text) {
		found := shownLevel.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		level, _ := strconv.Atoi(found[1])
		i := slices.IndexFunc(frames, func(f Frame) bool { return f.Level == level })
		if i < 0 {
			continue
		}
		if list, ok := argumentList(strings.TrimSuffix(line[len(found[0]):], "\n"), frames[i]); ok {
			frames[i].Args, frames[i].Values = gdbtext.SplitArguments(list)
		}
	}
}

// shownAddress is what gdb shows in front of the function of a frame that is not at the beginning of a line.
var shownAddress = pattern.New(`^0x[0-9a-f]+ in `)

// argumentList cuts "n=5, x=..." out of "0x5555 in compute (n=5, x=...) at work.c:31".
func argumentList(line string, f Frame) (list string, ok bool) {
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
