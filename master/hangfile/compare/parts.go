// What ranks had and said, as texts.

package compare

import (
	"encoding/json"
	"fmt"
	"strings"

	"sdm/master/hangfile"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// states returns the states of the ranks.
func states(f *hangfile.File) (parts []Part) {
	for _, s := range f.States {
		g := protocol.Group{Kind: protocol.KindResult, Body: canonical.JSON(s.Status)}
		parts = append(parts, Part{s.Ranks, text.Said("ranks", g)})
	}
	return parts
}

// values adds a section for each command whose answers differ, or that was given once only.
func (c *Changes) values(then, now *hangfile.File) {
	find := func(f *hangfile.File, line string) []Part {
		for _, v := range f.Values {
			if v.Line == line {
				return valueOf(v)
			}
		}
		return nil
	}
	seen := map[string]bool{}
	for _, f := range []*hangfile.File{then, now} {
		for _, v := range f.Values {
			if !seen[v.Line] {
				seen[v.Line] = true
				c.compare(v.Line, find(then, v.Line), find(now, v.Line))
			}
		}
	}
}

// valueOf returns the answers to a command: the values of an expression, or other texts.
func valueOf(v hangfile.Value) (parts []Part) {
	for _, e := range v.Answers {
		g := e.Group
		rest := g.Ranks
		col, some := g.Column("value")
		for _, x := range col.Values() {
			parts, rest = append(parts, Part{x.Ranks, x.Value}), rest.Minus(x.Ranks)
		}
		switch n, _ := col.Distinct(); {
		case rest.IsEmpty():
		case some:
			parts = append(parts, Part{rest, fmt.Sprintf("one of %d values that the file does not have", n)})
		default:
			parts = append(parts, Part{rest, text.Said(v.Command, g)})
		}
	}
	return parts
}

// hosts returns where ranks were, and with which program and engine.
func hosts(f *hangfile.File) (parts []Part) {
	for _, e := range f.Hosts {
		var h protocol.HostInfo
		if e.Group.Kind != protocol.KindResult || json.Unmarshal(e.Group.Body, &h) != nil {
			continue
		}
		words := []string{strings.Join(h.Hosts, ", ")}
		for _, w := range []string{h.Engine, h.Program} {
			if w != "" {
				words = append(words, w)
			}
		}
		parts = append(parts, Part{e.Group.Ranks, strings.Join(words, ", ")})
	}
	return parts
}

// versions returns the version of sdm, and what else the file tells.
func versions(f *hangfile.File) []Part {
	parts := []Part{{Text: "sdm: " + f.Sdm}}
	for _, v := range f.Versions {
		parts = append(parts, Part{v.Ranks, v.Of + ": " + v.Text})
	}
	return parts
}
