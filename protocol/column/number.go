// Values as numbers: which texts of gdb are numbers, and which comes first.

package column

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// class is what kind of value a text is.
type class uint8

const (
	text class = iota
	minusInf
	finite
	plusInf
	nan
)

// number is a value as a number. It is exact: big holds an integer that f
// cannot, and f is then the nearest float.
type number struct {
	class class
	f     float64
	big   *big.Int
}

const (
	// longestNumber bounds the texts that are looked at, in bytes. A 128-bit
	// integer takes 40.
	longestNumber = 64
	// maxFloatInt is the highest integer up to which floats hold every one.
	maxFloatInt = 1 << 53
)

// parseNumber reads what gdb prints for numbers: integers, floats, inf, nan with
// its bits, and characters, as in "97 'a'". Addresses and enumerations are text.
func parseNumber(s string) number {
	if len(s) > longestNumber || s == "" {
		return number{}
	}
	if code, _, ok := strings.Cut(s, " '"); ok && strings.HasSuffix(s, "'") {
		s = code
	}
	switch {
	case s == "inf":
		return number{class: plusInf, f: math.Inf(1)}
	case s == "-inf":
		return number{class: minusInf, f: math.Inf(-1)}
	case strings.HasPrefix(strings.TrimPrefix(s, "-"), "nan("), s == "nan", s == "-nan":
		return number{class: nan}
	case strings.Trim(s, "0123456789") == "" || s[0] == '-' && strings.Trim(s[1:], "0123456789") == "":
		return parseInteger(s)
	case strings.Trim(s, "0123456789+-.eE") != "":
		return number{}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return number{}
	}
	return number{class: finite, f: f + 0} // -0 is 0
}

func parseInteger(s string) number {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil && -maxFloatInt <= i && i <= maxFloatInt {
		return number{class: finite, f: float64(i)}
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return number{} // "-"
	}
	f, _ := new(big.Float).SetInt(i).Float64()
	return number{class: finite, f: f, big: i}
}

// compare orders numbers by value, with text first and nan last.
func (n number) compare(m number) int {
	if n.class != m.class || n.class != finite {
		return cmp.Compare(n.class, m.class)
	}
	if order := cmp.Compare(n.f, m.f); order != 0 || n.big == nil && m.big == nil {
		return order
	}
	return n.integer().Cmp(m.integer())
}

// integer gives the value of a number of at least 2^53, which has no fraction.
func (n number) integer() *big.Int {
	if n.big != nil {
		return n.big
	}
	i, _ := big.NewFloat(n.f).Int(nil)
	return i
}

// json gives the value as JSON can hold it: integers beyond 2^53 are strings.
func (n number) json() any {
	if n.big != nil {
		return n.big.String()
	}
	return jsonFloat(n.f)
}

// jsonFloat gives a float as JSON can hold it.
func jsonFloat(f float64) any {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}
