// Arguments and output of "print".

package gdbtext

import (
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// Printing is the parsed argument of print.
type Printing struct {
	Options string // of gdb, such as "-pretty"
	Format  string // the letters after the slash
	Expr    string
}

var formatOf = pattern.New(`^/(\w+)\s+`)

// ParsePrinting splits "-pretty -- /x n". A format in a has precedence over one in the expression.
func ParsePrinting(a protocol.Args) Printing {
	w := Printing{Format: a.Format, Expr: strings.TrimSpace(a.Expr)}
	if options, rest, ok := strings.Cut(w.Expr, " -- "); ok && strings.HasPrefix(options, "-") {
		w.Options, w.Expr = options, strings.TrimSpace(rest)
	}
	if found := formatOf.FindStringSubmatch(w.Expr); found != nil {
		if w.Format == "" {
			w.Format = found[1]
		}
		w.Expr = w.Expr[len(found[0]):]
	}
	return w
}

// Plain reports whether there are no options and no format, which only gdb's command line knows.
func (w Printing) Plain() bool { return w.Options == "" && w.Format == "" }

// Line returns the command line that prints an expression with the options and the format. The options
// in more come last, so that they have precedence.
func (w Printing) Line(expr string, more ...string) string {
	line := "print"
	for _, o := range append([]string{w.Options}, more...) {
		if o != "" {
			line += " " + o
		}
	}
	if len(line) > len("print") {
		line += " --"
	}
	if w.Format != "" {
		line += " /" + w.Format
	}
	return line + " " + expr
}

// InFull returns options that make gdb print all elements of a page: sdm bounds their text by length.
func (w Printing) InFull() []string {
	if w.Options == "" {
		return nil
	}
	return []string{"-elements " + strconv.Itoa(PageSize)}
}

// Operand returns an expression as an argument of GDB/MI: one that looks like an option gets a leading
// blank (mi.AppendCommand). Others do not, since gdb quotes the argument in its errors.
func Operand(expr string) string {
	if strings.HasPrefix(expr, "--") {
		return " " + expr
	}
	return expr
}

var refHead = pattern.New(`^(?:\([^"'{}]*?\) )?@0x[0-9a-f]+: `)

// ReferenceHead returns what gdb prints before the value that a reference refers to: "(int &) @0x7ffe: ".
func ReferenceHead(value string) string {
	if !strings.Contains(value, "@0x") {
		return ""
	}
	return refHead.FindString(value)
}

var historyPrefix = pattern.New(`^\$[0-9]+ = `)

// WithoutHistory removes "$1 = ", which differs between ranks.
func WithoutHistory(text string) string {
	return strings.TrimSuffix(historyPrefix.ReplaceAllString(text, ""), "\n")
}
