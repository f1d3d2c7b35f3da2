// Instructions and registers.

package gdb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sdm/protocol"
)

// assembly is the body of disassemble: the lines as gdb prints them, with
// offsets in the function instead of addresses, which differ between ranks. Where the
// selected frame stands is in column "current" ("+12"), the address of the
// first instruction in "addr".
type assembly struct {
	Of    string         `json:"of"` // the function, or what gdb says instead
	Lines []assemblyLine `json:"lines"`
}

type assemblyLine struct {
	At   string `json:"at,omitempty"` // "+12", or an address; "" is a line of source
	Text string `json:"text"`
}

// mostInstructions bounds the lines of one answer.
const mostInstructions = 20_000

func (m *machine) disassemble(q *request) {
	if !isFormat(q.args.Format) {
		m.fail(q, notAFormat(q.args.Format))
		return
	}
	line := "disassemble"
	if q.args.Format != "" {
		line += " /" + q.args.Format
	}
	m.inConsole(q, strings.TrimSpace(line+" "+q.args.Expr), func(text string) {
		body, current, addr := assemblyIn(text)
		c := columnsOf(m.target.Rank, q.args.Limit)
		c.add("addr", addr)
		c.add("current", current)
		m.reply(q, body, c.sorted()...)
	})
}

// instruction is a line of disassemble: "=> 0x5555 <+12>:\tmov ...". With /r
// the bytes stand in front, parted by blanks.
var instruction = regexp.MustCompile(`^(=> |   )(0x[0-9a-f]+)(?: <([^>]*)>)?:\t(.*)$`)

func assemblyIn(text string) (body assembly, current, addr string) {
	body.Lines = []assemblyLine{}
	start, known := functionStart(text)
	offsets := func(where *regexp.Regexp, line string) string {
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
		if line == "End of assembler dump." || len(body.Lines) == mostInstructions {
			continue
		}
		found := instruction.FindStringSubmatch(line)
		if found == nil {
			body.Lines = append(body.Lines, assemblyLine{Text: offsets(addressRange, line)})
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
		body.Lines = append(body.Lines, assemblyLine{at, withoutAddresses(offsets(referred, found[4]))})
	}
	return body, current, addr
}

// functionStart gives the address to which the offsets of instructions belong; false where they have none.
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

// What gdb tells by addresses without a symbol: where a part of a function lies, and data that an instruction refers to.
var (
	addressRange = regexp.MustCompile(`^Address range 0x[0-9a-f]+ to 0x[0-9a-f]+:$`)
	referred     = regexp.MustCompile(`# 0x[0-9a-f]+$|^adrp\t\w+, 0x[0-9a-f]+$`)
)

// asOffset writes an address as those of instructions are: "<+16>" from the start of the function.
func asOffset(hex string, start uint64) string {
	addr, err := strconv.ParseUint(hex, 0, 64)
	if err != nil {
		return hex
	}
	return fmt.Sprintf("<%+d>", int64(addr-start))
}

// pointed is an address with the name of what is there; anyAddress one of any kind;
// rangeOf those of "from 0x1 to 0x2".
var (
	pointed    = regexp.MustCompile(`0x[0-9a-f]+ (<.+>)`)
	anyAddress = regexp.MustCompile(`0x[0-9a-f]+`)
	rangeOf    = regexp.MustCompile(`^from 0x[0-9a-f]+ to 0x[0-9a-f]+$`)
)

// withoutAddresses keeps the name of an address where there is one, so that
// equal code is equal on all ranks.
func withoutAddresses(text string) string {
	if !strings.Contains(text, "0x") {
		return text
	}
	return pointed.ReplaceAllString(text, "$1")
}

func withoutRange(of string) string {
	if rangeOf.MatchString(of) {
		return "of a range"
	}
	return of
}

// infoRegisters shows registers; the value of each is in column "value.NAME" as
// gdb gives it: raw, and what it means.
func (m *machine) infoRegisters(q *request) {
	m.inConsole(q, strings.TrimSpace("info registers "+q.args.Expr), func(text string) {
		body := variables{Names: []string{}}
		c := columnsOf(m.target.Rank, q.args.Limit)
		for line := range strings.Lines(text) {
			name, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !ok || name == "" {
				continue
			}
			body.Names = append(body.Names, name)
			c.add("value."+name, registerValue(rest))
		}
		if len(body.Names) == 0 {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(text)})
			return
		}
		m.reply(q, body, c.sorted()...)
	})
}

// registerValue reads "            0x1c                28".
func registerValue(rest string) string {
	raw, natural, _ := strings.Cut(strings.TrimSpace(rest), "  ")
	natural = strings.TrimSpace(natural)
	if natural == "" {
		return raw
	}
	return raw + "  " + natural
}
