package master

import (
	"testing"

	"sdm/protocol/column"
	"sdm/protocol/rank"
)

func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		name      string
		tolerance float64
		values    []string
		near      bool
		far       string
	}{
		{"one value", 1e-9, []string{"5", "5"}, true, ""},
		{"last bits", 1e-9, []string{"1", "1.0000000000000002", "1.0000000000000004"}, true, ""},
		{"one value is too far", 1e-9, []string{"1", "1.0000000000000002", "2"}, false, "2"},
		{"absolute below 1", 1e-3, []string{"0.0001", "0.0009", "-0.00005"}, true, ""},
		{"relative above 1", 1e-3, []string{"1000", "1000.5", "1002"}, false, "2"},
		{"the majority's value, not the median", 0.1, []string{"3", "3", "3", "1", "2"}, false, "3-4"},
		{"not a number", 0.1, []string{"nan(0x1)", "1", "1.01"}, false, "0"},
		{"texts", 0.1, []string{"RED", "RED", "0"}, false, "2"},
	} {
		var all column.Column
		all.Name = "value"
		for i, v := range c.values {
			all = all.Merge(column.New("value", rank.ID(i), v, -1))
		}
		if got := isNear(all, c.tolerance); got != c.near {
			t.Errorf("%s: near is %v", c.name, got)
		}
		if got := farRanks(all, c.tolerance).String(); got != c.far {
			t.Errorf("%s: far are %q, want %q", c.name, got, c.far)
		}
	}
}
