package startup

import "testing"

func TestProcessors(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		have int
		want int
	}{
		{"a big node", nil, 128, 4},
		{"a small one", nil, 4, 2},
		{"the smallest", nil, 1, 1},
		{"as the user says", []string{"HOME=/", "GOMAXPROCS=16"}, 16, 16},
		{"not set", []string{"GOMAXPROCS=", "XGOMAXPROCS=7"}, 16, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := use(c.env, c.have); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
