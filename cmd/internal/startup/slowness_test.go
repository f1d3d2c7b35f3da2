package startup

import "testing"

func TestSlowness(t *testing.T) {
	for text, want := range map[string]int{
		"9523733 30974103 20\n":  4,
		"16000000 1200000 9\n":   1,
		"16000000 9000000 9\n":   2,
		"1000 99999999999 9\n":   4,
		"0 99999999999 9\n":      1,
		"0 0 0\n":                1,
		"":                       1,
		"16000000 -90000000 9\n": 1,
		"NaN 90000000 9\n":       1,
		"16000000 NaN 9\n":       1,
		"x y z\n":                1,
	} {
		if got := slowness(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := Slowness(); got < 1 || got > maxSlowness {
		t.Errorf("this process: %d", got)
	}
}
