// Output of "disassemble" and "info registers".

package gdbtext

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol/pattern"
)

// Assembly is the body of the answer to disassemble: the lines as gdb prints them, with offsets in the
// function instead of addresses, which differ between ranks.
type Assembly struct {
	Of    string         `json:"of"` // the function, or what gdb prints instead
	Lines []AssemblyLine `json:"lines"`
}

// AssemblyLine is an instruction, or a line of source.
type AssemblyLine struct {
	At   string `json:"at,omitempty"` // "+12", or an address; "": a line of source
	Text string `json:"text"`
}

// MaxInstructions bounds the lines of an Assembly.
const MaxInstructions = 20_000

// instruction matches a line of disassemble: "=> 0x5555 <+12>:\tmov ...". With /r the bytes precede the
// instruction, separated by blanks.
var instruction = pattern.New(`^(=> |   )(0x[0-9a-f]+)(?: <([^>]*)>)?:\t(.*)$`)

// ParseAssembly reads the output of disassemble. current is where the selected frame is ("+12"), addr the
// address of the first instruction.
func ParseAssembly(text string) (body Assembly, current, addr string) {
	body.Lines = []AssemblyLine{}
	start, known := functionStart(text)
	offsets := func(where *pattern.Pattern, line string) string {
		if !known {
			return line
		}
		return where.ReplaceAllStringFunc(line, func(found string) string {
			return anyAddress.ReplaceAllStringFunc(found, func(hex string) string { return asOffset(hex, start) })
		})
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if of, ok := strings.CutPrefix(line, "Dump of assembler code "); ok {
			body.Of = withoutRange(strings.TrimSuffix(of, ":"))
			continue
		}
		if line == "End of assembler dump." || len(body.Lines) == MaxInstructions {
			continue
		}
		found := instruction.FindStringSubmatch(line)
		if found == nil {
			body.Lines = append(body.Lines, AssemblyLine{Text: offsets(addressRange, line)})
			continue
		}
		at := found[3]
		if at == "" {
			at = found[2]
		}
		if addr == "" {
			addr = found[2]
		}
		if found[1] == "=> " {
			current = at
		}
		body.Lines = append(body.Lines, AssemblyLine{at, withoutAddresses(offsets(referred, found[4]))})
	}
	return body, current, addr
}

// functionStart returns the address that the offsets of instructions start from; false: they have none.
func functionStart(text string) (uint64, bool) {
	for line := range strings.Lines(text) {
		found := instruction.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if found == nil {
			continue
		}
		addr, err := strconv.ParseUint(found[2], 0, 64)
		offset, bad := strconv.ParseInt(found[3], 10, 64)
		return addr - uint64(offset), err == nil && bad == nil
	}
	return 0, false
}

// Addresses without a symbol: the range of a part of a function, and data that an instruction refers to.
var (
	addressRange = pattern.New(`^Address range 0x[0-9a-f]+ to 0x[0-9a-f]+:$`)
	referred     = pattern.New(`# 0x[0-9a-f]+$|^adrp\t\w+, 0x[0-9a-f]+$`)
)

// asOffset returns an address as an offset from the start of the function: "<+16>".
func asOffset(hex string, start uint64) string {
	addr, err := strconv.ParseUint(hex, 0, 64)
	if err != nil {
		return hex
	}
	return fmt.Sprintf("<%+d>", int64(addr-start))
}

// pointed matches an address with a symbol, anyAddress any address, rangeOf "from 0x1 to 0x2".
var (
	pointed    = pattern.New(`0x[0-9a-f]+ (<.+>)`)
	anyAddress = pattern.New(`0x[0-9a-f]+`)
	rangeOf    = pattern.New(`^from 0x[0-9a-f]+ to 0x[0-9a-f]+$`)
)

// withoutAddresses replaces addresses that have a symbol by the symbol, so that equal code is equal on
// all ranks.
func withoutAddresses(text string) string {
	if !strings.Contains(text, "0x") {
		return text
	}
	return pointed.ReplaceAllString(text, "$1")
}

// withoutRange replaces the addresses of a range, which differ between ranks.
func withoutRange(of string) string {
	if rangeOf.MatchString(of) {
		return "of a range"
	}
	return of
}

// RegisterValue reads the values of a register: "            0x1c                28".
func RegisterValue(rest string) string {
	raw, natural, _ := strings.Cut(strings.TrimSpace(rest), "  ")
	natural = strings.TrimSpace(natural)
	if natural == "" {
		return raw
	}
	return raw + "  " + natural
}
