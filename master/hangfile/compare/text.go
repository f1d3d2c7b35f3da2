// Changes as lines.

package compare

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sdm/master/hangfile"
	"sdm/master/text"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// WriteText writes lines: "-" is in front of what was then, "+" of what is now.
func (c *Changes) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "then: %s\nnow:  %s", c.Then, c.Now)
	if d := c.Now.When.Sub(c.Then.When); !c.Then.When.IsZero() && !c.Now.When.IsZero() {
		fmt.Fprintf(&b, ", %v later", d.Round(1e7))
	}
	b.WriteString("\n")
	if !c.Same.IsEmpty() {
		b.WriteString(head(c.Same) + "same stacks and calls\n")
	}
	if !c.Moved.IsEmpty() {
		b.WriteString(head(c.Moved) + "other stacks or calls\n")
	}
	for _, s := range c.Sections {
		b.WriteString(text.Clean(s.Name) + ":\n")
		for _, p := range s.Then {
			p.write(&b, "- ")
		}
		for _, p := range s.Now {
			p.write(&b, "+ ")
		}
	}
	if c.Equal {
		b.WriteString("nothing has changed\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes one object and a newline.
func (c *Changes) WriteJSON(w io.Writer) error {
	_, err := w.Write(append(canonical.JSON(c), '\n'))
	return err
}

// write writes a part, with the mark in front of each line.
func (p Part) write(b *strings.Builder, mark string) {
	for i, line := range strings.Split(p.Text, "\n") {
		b.WriteString(mark)
		if i == 0 && !p.Ranks.IsEmpty() {
			b.WriteString(head(p.Ranks))
		}
		b.WriteString(text.Clean(line) + "\n")
	}
}

// head returns "[0-2] (3) ".
func head(s rank.Set) string {
	out := "[" + text.Ranks(s) + "] "
	if n := s.Len(); n > 1 {
		out += "(" + strconv.Itoa(n) + ") "
	}
	return out
}

// String returns "2026-11-24 09:30:00 +0000, stall, no progress for 2m0s, job 77, 8 ranks".
func (s Subject) String() string {
	parts := []string{s.When.Format(hangfile.TimeFormat), text.Clean(s.Reason)}
	if s.Job != "" {
		parts = append(parts, "job "+text.Clean(s.Job))
	}
	return strings.Join(append(parts, text.Plural(s.Ranks.Len(), "rank")), ", ")
}
