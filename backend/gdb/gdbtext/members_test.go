package gdbtext

import (
	"slices"
	"strings"
	"testing"
)

func TestSegments(t *testing.T) {
	const value = `{<Base> = {id = 1, u = {1, 2, 3}}, n = 5, rows = {{x = 1, y = 2} <repeats 3 times>, {x = 7, y = "a, b"}}, v = std::vector of length 2, capacity 2 = {1, 2}}`
	for _, c := range []struct {
		most int
		want []string
	}{
		{100, []string{"<Base> = {id = 1, u = {1, 2, 3}}", "n = 5", `rows = {{x = 1, y = 2} <repeats 3 times>, {x = 7, y = "a, b"}}`, "v = std::vector of length 2, capacity 2 = {1, 2}"}},
		{48, []string{"<Base> = {id = 1, u = {1, 2, 3}}", "n = 5", "rows[0] = {x = 1, y = 2}", `rows[3] = {x = 7, y = "a, b"}`, "v = std::vector of length 2, capacity 2 = {1, 2}"}},
		{24, []string{"<Base>.id = 1", "<Base>.u = {1, 2, 3}", "n = 5", "rows[0] = {x = 1, y = 2}", "rows[3].x = 7", `rows[3].y = "a, b"`, "v = std::vector of length 2,..."}},
	} {
		if got := Segments(value, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%d: %q", c.most, got)
		}
	}
	if got := Segments("5", 10); got != nil {
		t.Errorf("a number has members %q", got)
	}
}

// The pages of a structure hold every member once, in order.
func TestPagesOfMembersHoldAll(t *testing.T) {
	value := "{a = 1, b = {x = 1, y = 2}, c = \"" + strings.Repeat("x", 30) + "\", d = {1, 2, 3}, e = 9}"
	all := Segments(value, 60)
	var got []string
	for first := 0; first < len(all); {
		text, last := PageOfMembers(all, first, 60)
		if len(text) > 70 || strings.HasSuffix(text, "...}") != (last < len(all)-1) {
			t.Errorf("%q", text)
		}
		got = append(got, Members(strings.TrimSuffix(strings.TrimSuffix(text[1:], "}"), "..."))...)
		first = last + 1
	}
	if !slices.Equal(got, all) {
		t.Errorf("got %q, want %q", got, all)
	}
}
