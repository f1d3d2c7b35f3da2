package column

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"sdm/protocol/rank"
)

// joined concatenates parts: strings, bytes, and small numbers.
func joined(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		case int:
			b = append(b, byte(p))
		}
	}
	return b
}

func TestDecodeErrors(t *testing.T) {
	rank5 := rank.Of(5).AppendWire(nil)
	nine := rank.Range(0, 8).AppendWire(nil)
	huge := bytes.Repeat([]byte{0xff}, 4)
	head := joined(1, "n", 5) // name n, limit 4
	// The parts of a summary of one rank with the value "7".
	sketch := joined(1, make([]byte, 8))
	seven := joined(1, 1, "7", 1, rank5)
	spread, noVotes := newBins([]bin{binOf(7, 1)}).appendWire(nil), make([]byte, 32)
	upTo := func(parts ...any) []byte { return joined(append([]any{head, 1}, parts...)...) }
	if c, rest, err := Decode(upTo(1, sketch, 1, 0, 0, seven, seven, 2, 7, 0, 2, 49, 0, spread, noVotes)); err != nil || len(rest) > 0 {
		t.Fatalf("the summary that the cases vary: %v, rest %d, %v", c, len(rest), err)
	}
	folded := func(parts ...any) []byte {
		return joined(append([]any{head, 2, 1, sketch, 1, 0, 0, seven, seven, 2, 7, 0, 2, 49, 0, spread, noVotes}, parts...)...)
	}
	same := joined(2, 1, "\x00", rank5, sketch, 0, 1, "a")
	if c, rest, err := Decode(folded(same)); err != nil || len(rest) > 0 || len(c.summary.folds.list) != 1 {
		t.Fatalf("the folds that the cases vary: %v, rest %d, %v", c, len(rest), err)
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":               {nil, "bytes end too early"},
		"name cut off":          {joined(5, "n"), "bytes end too early"},
		"name of 2^64-1":        {joined(huge, huge, 0xff, 0x01), "bytes end too early"},
		"no form":               {head, "bytes end too early"},
		"unknown form":          {joined(head, 3), "form is 3, more than 2"},
		"limit too high":        {joined(1, "n", huge, 0x7f), "limit is"},
		"values missing":        {joined(head, 0, 1), "more values than there can be"},
		"values above limit":    {joined(head, 0, 5, make([]byte, 100)), "more values than there can be"},
		"value cut off":         {joined(head, 0, 1, 9, "abc"), "bytes end too early"},
		"value without ranks":   {joined(head, 0, 1, 1, "a", 0), "a rank set is empty"},
		"values out of order":   {joined(head, 0, 2, 1, "b", rank5, 1, "a", rank5), "values are out of order"},
		"value twice":           {joined(head, 0, 2, 1, "a", rank5, 1, "a", rank5), "values are out of order"},
		"values without limit":  {joined(1, "n", 1, 0, 1, 1, "a", rank5), "more values than there can be"},
		"summary without limit": {joined(1, "n", 1, 1), "a summary without a limit"},
		"count too high":        {upTo(huge, 0x7f), "count is"},
		"hashes missing":        {upTo(1, 2, make([]byte, 15)), "bytes end too early"},
		"hashes out of order":   {upTo(1, 2, make([]byte, 16)), "hashes of values are out of order"},
		"registers missing":     {upTo(1, 65, make([]byte, 255)), "bytes end too early"},
		"register too high":     {upTo(1, 65, bytes.Repeat([]byte{58}, 256)), "out of bounds"},
		"more than registers":   {upTo(1, 66, make([]byte, 256)), "out of bounds"},
		"more numbers":          {upTo(1, sketch, 2, 0, 0, seven, seven, 0, 0, spread, noVotes), "contradicts itself"},
		"numbers, no extremes":  {upTo(1, sketch, 1, 0, 0, 0, 0, 0, 0, spread, noVotes), "contradicts itself"},
		"extremes, no numbers":  {upTo(1, sketch, 0, 0, 0, seven, 0, 0, 0, 0, noVotes), "contradicts itself"},
		"tally without ranks":   {upTo(1, sketch, 0, 1, 0), "a rank set is empty"},
		"tally of more ranks":   {upTo(9, sketch, 0, 9, nine), "more ranks than there can be"},
		"ranks above count":     {upTo(9, sketch, 0, 2, nine), "more ranks than there can be"},
		"five extremes":         {upTo(1, sketch, 1, 0, 0, 5), "count of extremes is 5"},
		"extreme that is text":  {upTo(1, sketch, 1, 0, 0, 1, 1, "x", 1, rank5), "extremes are out of order"},
		"extreme of no rank":    {upTo(1, sketch, 1, 0, 0, 1, 1, "7", 0), "extremes are out of order"},
		"lowest out of order":   {upTo(1, sketch, 1, 0, 0, 2, 1, "7", 1, rank5, 1, "6", 1, rank5), "extremes are out of order"},
		"highest out of order":  {upTo(1, sketch, 1, 0, 0, seven, 2, 1, "6", 1, rank5, 1, "7", 1, rank5), "extremes are out of order"},
		"sum too long":          {upTo(1, sketch, 1, 0, 0, seven, seven, huge, 0x7f), "a sum is too long"},
		"sum cut off":           {upTo(1, sketch, 1, 0, 0, seven, seven, 4, 1), "bytes end too early"},
		"sum without exponent":  {upTo(1, sketch, 1, 0, 0, seven, seven, 2, 7), "bytes end too early"},
		"sum of no bytes":       {upTo(1, sketch, 1, 0, 0, seven, seven, 1, 0, 0), "not in canonical form"},
		"even sum":              {upTo(1, sketch, 1, 0, 0, seven, seven, 2, 6, 0, 0), "not in canonical form"},
		"numbers, no bins":      {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, 0, noVotes), "contradicts itself"},
		"bins missing":          {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, 45, 9, 1, 1), "bins are not in canonical form"},
		"bins of no numbers":    {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, 45, 1, 1, 0, noVotes), "bins are out of order"},
		"a bin twice":           {upTo(2, sketch, 2, 0, 0, seven, seven, 0, 0, 45, 2, 1, 1, 0, 1, noVotes), "bins are out of order"},
		"bins too fine":         {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, 44, 1, 1, 1, noVotes), "bins are not in canonical form"},
		"bins too coarse":       {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, 64, 1, 1, 1, noVotes), "shift of bins is 64"},
		"a bin beyond the last": {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, 63, 1, 2, 1, noVotes), "step of bins is 2"},
		"votes missing":         {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, spread, make([]byte, 31)), "bytes end too early"},
		"more votes than ranks": {upTo(1, sketch, 1, 0, 0, seven, seven, 0, 0, spread, bytes.Repeat([]byte{2}, 32)), "count of votes is 2"},
		"folds missing":         {folded(), "bytes end too early"},
		"nine shapes":           {folded(10), "count of shapes is 10"},
		"no shapes":             {folded(1), "folds are not in canonical form"},
		"a shape without leaf":  {folded(2, 1, "x", rank5, sketch, 0, 0, 0, 0), "folds are not in canonical form"},
		"a shape without end":   {folded(2, 2, "\x01\x00", rank5, sketch, 0, 0, 0, 0), "folds are not in canonical form"},
		"a shape of no ranks":   {folded(2, 1, "\x00", 0, sketch, 0, 0, 0, 0), "a rank set is empty"},
		"shapes out of order":   {folded(3, 1, "\x00", rank5, sketch, 0, 0, 1, "\x00", rank5, sketch, 0, 0), "folds are not in canonical form"},
		"fields missing":        {folded(2, 3, "\x00\x00\x00", rank5, sketch, 0, 0), "folds are not in canonical form"},
		"unknown field":         {folded(2, 1, "\x00", rank5, sketch, 3, 0), "form of a field is 3"},
		"a field of no values":  {folded(2, 1, "\x00", rank5, sketch, 1, sketch, 0), "folds are not in canonical form"},
		"a field of nine":       {folded(2, 1, "\x00", rank5, sketch, 1, sketch, 9, make([]byte, 100)), "more values than there can be"},
		"a span without ends":   {folded(2, 1, "\x00", rank5, sketch, 2, sketch, 1, 0, 0), "bytes end too early"},
		"a span of text":        {folded(2, 1, "\x00", rank5, sketch, 2, sketch, 1, 0, 0, 1, "x", 1, rank5), "extremes are out of order"},
		"exponent too high":     {upTo(1, sketch, 1, 0, 0, seven, seven, 2, 7, huge, 0x7f, 0), "not in canonical form"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := Decode(c.b)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "column: ") {
				t.Errorf("%v, error %v, want %q in it", got, err, c.want)
			}
		})
	}
}

func TestParseNumber(t *testing.T) {
	for _, c := range []struct {
		text  string
		class class
		f     float64
		big   bool
	}{
		{"0", finite, 0, false},
		{"-0", finite, 0, false},
		{"-0.0", finite, 0, false},
		{"-12", finite, -12, false},
		{"9007199254740992", finite, 1 << 53, false},
		{"9007199254740993", finite, 1 << 53, true},
		{"-170141183460469231731687303715884105728", finite, -math.Exp2(127), true},
		{"3.1400000000000001", finite, 3.14, false},
		{"-1e+100", finite, -1e100, false},
		{"97 'a'", finite, 97, false},
		{`0 '\000'`, finite, 0, false},
		{"inf", plusInf, math.Inf(1), false},
		{"-inf", minusInf, math.Inf(-1), false},
		{"nan(0x8000000000000)", nan, 0, false},
		{"-nan(0x8000000000000)", nan, 0, false},
		{"-nan", nan, 0, false},
		{"", text, 0, false},
		{"-", text, 0, false},
		{".", text, 0, false},
		{"1e999", text, 0, false},
		{"0x55", text, 0, false},
		{"1_000", text, 0, false},
		{"RED", text, 0, false},
		{"nano", text, 0, false},
		{"infinity", text, 0, false},
		{"5 apples", text, 0, false},
		{"{1, 2}", text, 0, false},
		{"<optimized out>", text, 0, false},
		{strings.Repeat("1", 65), text, 0, false},
	} {
		n := parseNumber(c.text)
		if n.class != c.class || n.f != c.f && c.class != nan || (n.big != nil) != c.big {
			t.Errorf("%q is %+v, want class %d, %v, big %v", c.text, n, c.class, c.f, c.big)
		}
		if math.Signbit(n.f) && n.f == 0 {
			t.Errorf("%q is -0", c.text)
		}
	}
}

func TestTextHasNoStatistics(t *testing.T) {
	c := columnOf("n", 0, "a", "nan(0x1)", "inf")
	_, hasMin := c.Min()
	_, hasMax := c.Max()
	_, hasMean := c.Mean()
	_, hasDeviation := c.StdDev()
	if hasMin || hasMax || hasMean || hasDeviation {
		t.Errorf("%v, %v, %v, %v", hasMin, hasMax, hasMean, hasDeviation)
	}
	if s := c.Stats(); s.Count != 3 || s.NaN.Ranks.String() != "1" || s.Inf.Ranks.String() != "2" {
		t.Errorf("%+v", s)
	}
}

func TestStatistics(t *testing.T) {
	c := columnOf("n", 2, "2", "4", "4", "4", "5", "5", "7", "9", "text", "-inf")
	mean, _ := c.Mean()
	deviation, _ := c.StdDev()
	if mean != 5 || deviation != 2 {
		t.Errorf("mean %v, standard deviation %v", mean, deviation)
	}
	s := c.Stats()
	if s.Numbers != 8 || s.Count != 10 || len(s.Lowest) != 4 || s.Lowest[1].Ranks.String() != "1-3" || s.Highest[2].Count != 2 {
		t.Errorf("%+v", s)
	}
	if c := columnOf("n", 0, "1.7e308", "-1.7e308"); c.Stats().StdDev != 1.7e308 || c.Stats().Mean != 0 {
		t.Errorf("squares overflow: %+v", c.Stats())
	}
}
