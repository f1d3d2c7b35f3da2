// Scalar values, from the text that print writes.

package ptp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

func textOf(text string) (ptp.Value, error) { return ptp.TextValue(text), nil }

// integerOf reads an integer, a character, a truth value or an enumeration constant.
func integerOf(t *ptp.Type, text string) (ptp.Value, error) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return ptp.Value{}, fmt.Errorf("%q is no number", text)
	}
	return t.FromNumber(n)
}

// numberIn returns the number that print shows with the format d, from what it shows without a format:
// 65 'A', true, (int *) 0x5555 <x>. Of other texts it returns what is no number.
func numberIn(text string) string {
	if found := addressIn.FindStringSubmatch(text); found != nil {
		if addr, err := strconv.ParseUint(found[1], 0, 64); err == nil {
			return strconv.FormatUint(addr, 10)
		}
	}
	switch word, _, _ := strings.Cut(text, " "); word {
	case "true":
		return "1"
	case "false":
		return "0"
	default:
		return word
	}
}

// addressIn matches a pointer: its address, after its type in C++ and in typed output.
var addressIn = regexp.MustCompile(`^(?:\(.*\) )?(0x[0-9a-f]+)(?: <.*>)?$`)

// floatOf reads a floating-point number. One beyond a double, or with more digits than it has there, is text.
func floatOf(t *ptp.Type, text string) (ptp.Value, error) {
	word, _, _ := strings.Cut(text, " ")
	if strings.HasPrefix(strings.TrimPrefix(word, "-"), "nan") { // -nan(0x400000)
		return t.Number(math.NaN()), nil
	}
	f, err := strconv.ParseFloat(word, 64)
	lost := f == 0 && strings.ContainsAny(word, "123456789")
	if lost || errors.Is(err, strconv.ErrRange) || t.Size > 8 && f != 0 && math.Abs(f) < ptp.SmallestNormal {
		return ptp.TextValue(word), nil
	}
	return t.Number(f), err
}

// wholeText are the options with which print shows a whole text, without <repeats N times>.
const wholeText = "-elements 16384 -repeats unlimited -- "

// charsOf reads a pointer to characters: 0x5555 "text". If gdb shows something else in place of the
// text, that is the text: 0x1 <error: Cannot access memory at address 0x1>.
func charsOf(size int, text string) (ptp.Value, error) {
	word, rest, _ := strings.Cut(text, " ")
	addr, err := strconv.ParseUint(word, 0, 64)
	if _, quoted, ok := strings.Cut(" "+rest, ` "`); ok {
		rest = unquote(`"` + quoted)
	}
	return ptp.CharsAt(size, addr, rest), err
}

// unquote returns the bytes of a string that gdb shows, with "..." after one that it has cut off.
func unquote(text string) string {
	var b strings.Builder
	text = strings.TrimPrefix(text, `"`)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			b.WriteString(text[i+1:]) // "..."
			return b.String()
		case c == '\\' && i+1 < len(text):
			n, r := escaped(text[i+1:])
			b.WriteByte(r)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escaped returns the character that follows a backslash, and how many bytes it takes there.
func escaped(text string) (n int, c byte) {
	if k := strings.IndexByte("abtnvfre", text[0]); k >= 0 {
		return 1, "\a\b\t\n\v\f\r\x1b"[k]
	}
	for n < 3 && n < len(text) && text[n] >= '0' && text[n] <= '7' {
		c = c<<3 | (text[n] - '0')
		n++
	}
	if n == 0 {
		return 1, text[0]
	}
	return n, c
}

// maxTexts bounds the texts that are read for one value.
const maxTexts = 100

// texts are the texts at some addresses on some ranks.
type texts struct {
	ranks rank.Set
	at    map[uint64]string
}

// text returns the text at an address; of one that was not asked for, a mark.
func (t texts) text(addr uint64) (string, bool) {
	text, ok := t.at[addr]
	if !ok {
		text = "..."
	}
	return text, ok
}

// textsAt reads the texts at some addresses, which differ between ranks. What cannot be read is shown
// as gdb says it.
func (v *valuer) textsAt(ctx context.Context, ranks rank.Set, addresses []uint64) []texts {
	all := []texts{{ranks, nil}}
	for _, addr := range addresses[:min(len(addresses), maxTexts)] {
		expr := wholeText + "(char *) " + strconv.FormatUint(addr, 10)
		for _, g := range v.ask(ctx, "print", ranks, protocol.Args{Expr: expr, Limit: everyValue}) {
			for _, c := range cellsOf(g, "value", "") {
				if is, err := charsOf(0, c.value); err == nil {
					all = divided(all, c.ranks, addr, string(is.Data[2:]))
				}
			}
		}
	}
	return all
}

// divided adds the text that some ranks have at an address.
func divided(all []texts, ranks rank.Set, addr uint64, text string) []texts {
	var out []texts
	for _, t := range all {
		if those := t.ranks.Intersect(ranks); !those.IsEmpty() {
			at := maps.Clone(t.at)
			if at == nil {
				at = map[uint64]string{}
			}
			at[addr] = text
			out = append(out, texts{those, at})
		}
		if rest := t.ranks.Minus(ranks); !rest.IsEmpty() {
			out = append(out, texts{rest, t.at})
		}
	}
	return out
}
