// Instructions and registers.

package gdb

import (
	"regexp"
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
			body.Lines = append(body.Lines, assemblyLine{Text: line})
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
		body.Lines = append(body.Lines, assemblyLine{at, withoutAddresses(found[4])})
	}
	return body, current, addr
}

// pointed is an address with the name of what is there; rangeOf those of "from
// 0x1 to 0x2".
var (
	pointed = regexp.MustCompile(`0x[0-9a-f]+ (<.+>)`)
	rangeOf = regexp.MustCompile(`^from 0x[0-9a-f]+ to 0x[0-9a-f]+$`)
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
