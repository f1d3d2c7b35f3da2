// Frames and source lines.

package text

import (
	"strconv"

	"sdm/protocol"
)

// backtrace writes "#0  compute (n=<0..7>) at work.c:31", one frame on each line.
func backtrace(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Frames []protocol.Frame `json:"frames"`
		Locals [][]string       `json:"locals"` // of each frame, if requested
		More   bool             `json:"more"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	cols := columns(g)
	x := answer{ranks: g.Ranks}
	for i, f := range body.Frames {
		x.lines = append(x.lines, numbered(f, cols, strconv.Itoa(f.Level)+".args."))
		if i < len(body.Locals) {
			x.lines = append(x.lines, locals(body.Locals[i], cols, strconv.Itoa(f.Level)+".locals.")...)
		}
	}
	if body.More {
		x.lines = append(x.lines, "(More stack frames follow...)")
	}
	return []answer{x}
}

// locals returns the variables of a frame as GDB prints them, below it.
func locals(names []string, cols map[string]view, prefix string) []string {
	if len(names) == 0 {
		return []string{"No locals."}
	}
	var lines []string
	for _, name := range names {
		value := "?"
		if c, ok := cols[prefix+name]; ok {
			value = spreadText(c)
		}
		lines = append(lines, "        "+name+" = "+value)
	}
	return lines
}

// numbered returns "#0  compute (...) at work.c:31"; GDB begins the frame in column four.
func numbered(f protocol.Frame, cols map[string]view, prefix string) string {
	number := "#" + strconv.Itoa(f.Level)
	for len(number) < 4 {
		number += " "
	}
	return number + frame(f, cols, prefix)
}

// oneFrame writes the selected frame with its source line.
func oneFrame(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Frame  protocol.Frame `json:"frame"`
		Source string         `json:"source"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	x := answer{ranks: g.Ranks, lines: []string{numbered(body.Frame, columns(g), "args.")}}
	if body.Source != "" {
		x.below = []string{strconv.Itoa(body.Frame.Line) + "\t" + body.Source}
	}
	return []answer{x}
}

// sourceLines writes lines of source as GDB's list does.
func sourceLines(_ *Writer, _ Asked, g protocol.Group) []answer {
	body, ok := ListedLines(g)
	if !ok {
		return []answer{raw(g)}
	}
	x := answer{ranks: g.Ranks}
	for _, e := range append(body.Before, body.Excerpt) {
		if e.Head != "" {
			x.lines = append(x.lines, e.Head)
		}
		for _, l := range e.Lines {
			x.lines = append(x.lines, strconv.Itoa(l.N)+"\t"+l.Text)
		}
	}
	return []answer{x}
}

// Listed is the result of list.
type Listed struct {
	File string `json:"file"`
	Excerpt
	Before []Excerpt `json:"before"` // other functions of an ambiguous name
}

// Excerpt is the listed lines of one place.
type Excerpt struct {
	Head  string `json:"head"` // which function of an ambiguous name this is
	Lines []struct {
		N    int    `json:"n"`
		Text string `json:"text"`
	} `json:"lines"`
}

// ListedLines reads the result of list, so that the next list can continue after its end.
func ListedLines(g protocol.Group) (Listed, bool) {
	var body Listed
	ok := decode(g.Body, &body)
	return body, ok
}
