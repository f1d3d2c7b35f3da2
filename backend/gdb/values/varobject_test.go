package values

import (
	"testing"

	"sdm/protocol"
)

func TestFortranItem(t *testing.T) {
	for _, c := range []struct {
		expr, index string
		dims        int
		want        string
	}{
		{"a", "3", 1, "a(3)"}, {"a", "-3", 2, "a(:,-3)"}, {"a(:,3)", "2", 1, "a(2,3)"}, {"a(:,:,4)", "2", 2, "a(:,2,4)"},
		{"a(:,2,4)", "1:5", 1, "a(1:5,2,4)"}, {"b%c(2)%a", "3", 2, "b%c(2)%a(:,3)"},
	} {
		if got := fortranItem(c.expr, c.index, c.dims); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.expr, c.index, got, c.want)
		}
	}
	if got := withBounds("real(kind=4) (3,4)", []protocol.Dim{{Low: 0, Count: 3}, {Low: 1, Count: 4}}); got != "real(kind=4) (0:2,4)" {
		t.Error(got)
	}
}

func TestPairs(t *testing.T) {
	item := func(name, value string, n int) object {
		return object{member: protocol.Member{Name: name, Count: n}, value: value}
	}
	joined := pairs([]object{item("[0]", `"a"`, 0), item("[1]", "5", 0), item("[2]", "{...}", -1), item("[3]", "6", 0), item("[4]", "7", 0)}, 8)
	var names string
	for _, o := range joined {
		names += o.member.Name + "=" + o.value + " "
	}
	if names != `["a"]=5 key 9={...} value 9=6 ` {
		t.Error(names)
	}
	for name, want := range map[string]int{"[3]": 3, "(:,-2)": -2, "(:,1:3)": -1, "x": -1, "[x]": -1, "": -1} {
		if n, ok := elementNumber(name); ok && n != want || !ok && want != -1 {
			t.Errorf("%s: %d %v", name, n, ok)
		}
	}
}
