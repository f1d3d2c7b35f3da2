package console

import (
	"bytes"
	"strings"
	"testing"

	"sdm/master/language"
	"sdm/protocol/rank"
)

func TestCutPage(t *testing.T) {
	for _, c := range []struct {
		text          string
		rows, columns int
		page, rest    string
	}{
		{"a\nb\nc\n", 2, 80, "a\nb\n", "c\n"},
		{"a\nb\n", 2, 80, "a\nb\n", ""},
		{"abcdefgh\n", 2, 3, "abcdef\n", "gh\n"},
		{"äöüß\n", 1, 2, "äö\n", "üß\n"},
		{"\x1b[36mab\x1b[0m\nc\n", 1, 2, "\x1b[36mab\x1b[0m\n", "c\n"},
		{"", 5, 80, "", ""},
	} {
		if page, rest := cutPage(c.text, c.rows, c.columns); page != c.page || rest != c.rest {
			t.Errorf("%q: %q and %q", c.text, page, rest)
		}
	}
}

// Answers are shown in pages, to the end or until quit; answers to commands that were not typed are
// not paged.
func TestPager(t *testing.T) {
	text := strings.Repeat("line\n", 10)
	for _, c := range []struct {
		name    string
		set     func(*console, *call)
		answers []string
		lines   int
	}{
		{"to the end", nil, []string{"", ""}, 10},
		{"one more", nil, []string{"", "q"}, 8},
		{"all the rest", nil, []string{"c"}, 10},
		{"of a script", func(_ *console, x *call) { x.typed = false }, nil, 10},
		{"in batch", func(c *console, _ *call) { c.cfg.Interactive = false }, nil, 10},
		{"set height 0", func(c *console, _ *call) { c.setPaging(language.Command{Name: language.SetHeight}) }, nil, 10},
		{"set height 3", func(c *console, _ *call) { c.setPaging(language.Command{Name: language.SetHeight, Number: 3}) }, []string{"q"}, 2},
		{"set pagination off", func(c *console, _ *call) { c.setPaging(language.Command{Name: language.SetPagination}) }, nil, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			x := &call{typed: true}
			con := newConsole(t.Context(), Config{Out: &out, All: rank.Range(0, 0), Interactive: true, Screen: func() (int, int) { return 5, 80 }})
			con.await = await{call: x}
			if c.set != nil {
				c.set(con, x)
			}
			con.paged(text, x.typed)
			for _, a := range c.answers {
				if con.pager.rest == "" || con.prompt() != morePrompt {
					t.Fatalf("no question before %q", a)
				}
				con.turnPage(a)
			}
			if n := strings.Count(out.String(), "line\n"); n != c.lines || con.pager.rest != "" {
				t.Errorf("%d lines, left %q", n, con.pager.rest)
			}
		})
	}
}
