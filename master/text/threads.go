// Answers about threads, and bytes of memory.

package text

import (
	"encoding/json"
	"strconv"
	"strings"

	"sdm/protocol"
)

// threadChosen writes the selected thread and its frame.
func threadChosen(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Thread int            `json:"thread"`
		Frame  protocol.Frame `json:"frame"`
		Source string         `json:"source"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	x := answer{ranks: g.Ranks, lines: []string{"Thread " + strconv.Itoa(body.Thread) + ", " + frame(body.Frame, columns(g), "args.")}}
	if body.Source != "" {
		x.below = []string{strconv.Itoa(body.Frame.Line) + "\t" + body.Source}
	}
	return []answer{x}
}

// threadsApplied writes the answers of several threads, each after its number, in the form of the
// command itself.
func threadsApplied(w *Writer, a Asked, g protocol.Group) []answer {
	var body struct {
		Apply   string `json:"apply"`
		Threads []struct {
			Thread int             `json:"thread"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		} `json:"threads"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	x := answer{ranks: g.Ranks}
	for _, t := range body.Threads {
		x.lines = append(x.lines, "Thread "+strconv.Itoa(t.Thread)+":")
		part := protocol.Group{Kind: protocol.KindResult, Ranks: g.Ranks, Body: t.Result}
		if t.Error != nil {
			part.Kind, part.Body = protocol.KindFault, t.Error
		}
		prefix := strconv.Itoa(t.Thread) + ":"
		for _, c := range g.Columns {
			if name, ok := strings.CutPrefix(c.Name, prefix); ok {
				c.Name = name
				part.Columns = append(part.Columns, c)
			}
		}
		asked := a
		asked.Command, asked.Full = body.Apply, false
		parts, _ := w.parts(asked, part)
		for _, p := range parts {
			if len(parts) > 1 && len(p.lines) > 0 { // values that differ between ranks
				p.lines[0] = "[" + clipped(p.ranks) + "] " + p.lines[0]
			}
			x.lines = append(append(x.lines, p.lines...), p.below...)
		}
	}
	return []answer{x}
}

// dumped writes the names of files.
func dumped(_ *Writer, _ Asked, g protocol.Group) []answer {
	text, _ := columns(g)["file"].spread()
	return []answer{{ranks: g.Ranks, lines: []string{"written to " + text}}}
}

// memoryBytes writes bytes, sixteen on each line.
func memoryBytes(_ *Writer, _ Asked, g protocol.Group) []answer {
	var parts []answer
	for _, v := range columns(g)["data"].values {
		x := answer{ranks: v.Ranks}
		for rest := v.Value; rest != ""; {
			n := min(len(rest), 32)
			var pairs []string
			for i := 0; i+1 < n; i += 2 {
				pairs = append(pairs, rest[i:i+2])
			}
			x.lines, rest = append(x.lines, strings.Join(pairs, " ")), rest[n:]
		}
		parts = append(parts, x)
	}
	if parts == nil {
		return []answer{{ranks: g.Ranks, lines: []string{columns(g)["data"].summary()}}}
	}
	return parts
}
