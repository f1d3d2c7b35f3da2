package topology

import "testing"

// Printing a parsed shape and parsing the result gives the same shape.
func FuzzParseShape(f *testing.F) {
	for _, text := range []string{"binomial", "flat", "1", "8", "0", "-1", "16777216", "+3", "0x8", "ring"} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		s, err := ParseShape(text, size)
		if err != nil {
			return
		}
		again, err := ParseShape(s.String(), s.Size())
		if err != nil || again != s {
			t.Errorf("%q of %d is printed as %v, which is read as %v, %v", text, size, s, again, err)
		}
	})
}
