// Values as numbers: which texts of gdb are numbers, and their order.

package column

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// class is the kind of a value.
type class uint8

const (
	text class = iota
	minusInf
	finite
	plusInf
	nan
)

// number is the exact value of a number: big is an integer that f cannot represent,
// and f is then the nearest float.
type number struct {
	class class
	f     float64
	big   *big.Int
}

const (
	// longestNumber is the maximum length of a number, in bytes. A 128-bit integer
	// takes 40.
	longestNumber = 64
	// maxFloatInt is the highest integer up to which floats represent all integers.
	maxFloatInt = 1 << 53
)

// parseNumber parses numbers as gdb prints them: integers, floats, inf, nan with
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

// integer returns the value of a number of at least 2^53, which has no fraction.
func (n number) integer() *big.Int {
	if n.big != nil {
		return n.big
	}
	i, _ := big.NewFloat(n.f).Int(nil)
	return i
}

// json returns the value for JSON: integers beyond 2^53 as strings.
func (n number) json() any {
	if n.big != nil {
		return n.big.String()
	}
	return jsonFloat(n.f)
}

// jsonFloat returns a float for JSON: infinities and NaN as strings.
func jsonFloat(f float64) any {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}
