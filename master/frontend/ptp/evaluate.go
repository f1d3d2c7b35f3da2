// Values, as AIF.

package ptp

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// evaluate is EVALUATE EXPRESSION: the whole value, of a pointer with its target.
func evaluate(ctx context.Context, j *job, args arguments) {
	j.evaluate(ctx, args[0], "", true)
}

// evaluatePartial is EVALUATE PARTIAL EXPR: without children, a structure is sent empty, and a
// pointer without its target.
func evaluatePartial(ctx context.Context, j *job, args arguments) {
	j.evaluate(ctx, args[0], j.name(args[1]), isTrue(args[2]))
}

func (j *job) evaluate(ctx context.Context, expr, name string, whole bool) {
	v := &valuer{job: j, whole: whole}
	for _, x := range v.values(ctx, expr, j.ranks, true) {
		j.say(ptp.EventData, x.ranks, x.of.Format(), ptp.DataText(x.data), ptp.Latin1(x.name), name)
	}
}

// value is the value of an expression on some ranks.
type value struct {
	ranks rank.Set
	of    *ptp.Type
	name  string // of the type, as in the program
	data  []byte
}

// valuer finds the values of one expression. An expression with side effects is evaluated once,
// except structures, arrays, and pointers with targets: for these gdb is also asked for an address.
type valuer struct {
	*job
	whole bool
	asked int // number of names that were resolved
}

const (
	// mostResolved bounds the names of types that are looked up for one value.
	mostResolved = 64
	// mostData bounds the bytes that are read of a value; arrays are truncated to it.
	mostData = 32 << 10
)

// values returns the values of an expression; follow adds the targets of pointers. It asks for the
// type first.
func (v *valuer) values(ctx context.Context, expr string, ranks rank.Set, follow bool) []value {
	var out []value
	for _, g := range v.look(ctx, "whatis", ranks, protocol.Args{Expr: expr}, ptp.UnknownVariable) {
		var body textBody
		if !v.bodyIs(g, &body) {
			continue
		}
		for _, t := range v.types(ctx, expr, g.Ranks) {
			found := v.of(ctx, expr, t, follow)
			for i := range found {
				found[i].name = typeText(body.Text)
			}
			out = append(out, found...)
		}
	}
	return out
}

// typed is the type of an expression on some ranks; nil: unsupported.
type typed struct {
	ranks rank.Set
	of    *ptp.Type
}

func (v *valuer) types(ctx context.Context, expr string, ranks rank.Set) []typed {
	var out []typed
	for size, same := range v.sizes(ctx, expr, ranks) {
		for _, g := range v.ask(ctx, "ptype", same, protocol.Args{Expr: expr, Format: "o"}) {
			var body textBody
			found := typed{ranks: g.Ranks}
			if g.Kind == protocol.KindResult && v.bodyIs(g, &body) {
				found.of = v.read(ctx, body.Text, size, g.Ranks)
			}
			out = append(out, found)
		}
	}
	return out
}

// read parses a type. A pointer to an unsupported type is a pointer without element type.
func (v *valuer) read(ctx context.Context, text string, size int, ranks rank.Set) *ptp.Type {
	t, err := parseType(text, size, v.resolver(ctx, ranks))
	if err == nil {
		return t
	}
	if strings.HasSuffix(strings.TrimSpace(text), "*") && (size == 4 || size == 8) {
		return &ptp.Type{Kind: ptp.Pointer, Size: size}
	}
	return nil
}

// sizes returns the size of the expression in bytes with its ranks; 0 if gdb does not know it.
func (v *valuer) sizes(ctx context.Context, expr string, ranks rank.Set) map[int]rank.Set {
	found := map[int]rank.Set{}
	for _, g := range v.ask(ctx, "print", ranks, protocol.Args{Expr: "sizeof(" + expr + ")", Limit: everyValue}) {
		for _, c := range cellsOf(g, "value", "0") {
			n, err := strconv.Atoi(c.value)
			if err != nil {
				n = 0
			}
			found[n] = found[n].Union(c.ranks)
		}
	}
	return found
}

// resolver looks up the names of types within another type.
func (v *valuer) resolver(ctx context.Context, ranks rank.Set) resolver {
	var resolve resolver
	resolve = func(name string, size int) (*ptp.Type, error) {
		if v.asked++; v.asked > mostResolved {
			return nil, errType
		}
		groups := v.ask(ctx, "ptype", ranks, protocol.Args{Expr: name, Format: "o"})
		var body textBody
		if len(groups) != 1 || groups[0].Kind != protocol.KindResult || !v.bodyIs(groups[0], &body) || strings.HasSuffix(body.Text, " "+name) {
			return nil, errType
		}
		return parseType(body.Text, size, resolve)
	}
	return resolve
}

// of returns the values of an expression of one type.
func (v *valuer) of(ctx context.Context, expr string, t typed, follow bool) []value {
	switch {
	case t.of == nil:
		return v.text(ctx, expr, t.ranks)
	case t.of.Kind == ptp.Pointer:
		return v.pointer(ctx, expr, t, follow)
	case t.of.Kind == ptp.Struct || t.of.Kind == ptp.Union:
		if !v.whole {
			return []value{{ranks: t.ranks, of: &ptp.Type{Kind: t.of.Kind, Name: t.of.Name}}}
		}
		return v.memory(ctx, expr, t)
	case t.of.Kind == ptp.Array:
		return v.memory(ctx, expr, t)
	case t.of.Kind == ptp.Float || t.of.Kind == ptp.CharPointer:
		return v.printed(ctx, expr, t, "")
	}
	return v.printed(ctx, expr, t, "d")
}

// printed reads the value from the output of print.
func (v *valuer) printed(ctx context.Context, expr string, t typed, format string) []value {
	var out []value
	for _, g := range v.look(ctx, "print", t.ranks, protocol.Args{Expr: expr, Format: format, Limit: everyValue}, ptp.UnknownVariable) {
		for _, c := range cellsOf(g, "value", "") {
			x := value{ranks: c.ranks, of: t.of}
			var err error
			if x.data, err = scalar(t.of, c.value); err != nil {
				x.of, x.data = textType, ptp.TextData(ptp.Latin1(c.value))
			}
			out = append(out, x)
		}
	}
	return out
}

var textType = &ptp.Type{Kind: ptp.TextKind}

// text returns the output of print.
func (v *valuer) text(ctx context.Context, expr string, ranks rank.Set) []value {
	return v.printed(ctx, expr, typed{ranks, textType}, "")
}

// scalar converts the printed text of a scalar value.
func scalar(t *ptp.Type, text string) ([]byte, error) {
	switch t.Kind {
	case ptp.Float:
		word, _, _ := strings.Cut(strings.Replace(text, "nan(", "nan (", 1), " ")
		f, err := strconv.ParseFloat(word, 64)
		return t.Number(f), err
	case ptp.CharPointer:
		word, chars, _ := strings.Cut(text, " ")
		addr, err := strconv.ParseUint(word, 0, 64)
		return t.CharsAt(addr, ptp.Latin1(chars)), err
	case ptp.TextKind:
		return ptp.TextData(ptp.Latin1(text)), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return t.Integer(n), nil
	}
	n, err := strconv.ParseUint(text, 10, 64) // a greater number is sent as text
	return t.Integer(int64(n)), err
}

// pointer returns the address and, if requested and readable, the target.
func (v *valuer) pointer(ctx context.Context, expr string, t typed, follow bool) []value {
	var out []value
	addresses := v.printed(ctx, expr, typed{t.ranks, &ptp.Type{Kind: ptp.Unsigned, Size: t.of.Size}}, "d")
	for _, a := range addresses {
		addr := new(big).read(a.data)
		bare := value{ranks: a.ranks, of: t.of, data: t.of.PointerTo(addr, nil)}
		if !follow || !v.whole || addr == 0 || a.of == textType {
			out = append(out, bare)
			continue
		}
		targets := v.targets(ctx, expr, a.ranks)
		for _, x := range targets {
			to := &ptp.Type{Kind: ptp.Pointer, Size: t.of.Size, Elem: x.of}
			out = append(out, value{ranks: x.ranks, of: to, data: to.PointerTo(addr, x.data)})
			bare.ranks = bare.ranks.Minus(x.ranks)
		}
		if !bare.ranks.IsEmpty() {
			out = append(out, bare)
		}
	}
	return out
}

// targets returns the readable targets of a pointer. Others are not an error of the expression.
func (v *valuer) targets(ctx context.Context, expr string, ranks rank.Set) []value {
	quiet := &valuer{job: &job{front: v.front, ranks: ranks, what: v.what}, whole: true, asked: v.asked}
	found := quiet.values(ctx, "*("+expr+")", ranks, false)
	v.asked = quiet.asked
	var out []value
	for _, x := range found {
		if x.of != textType {
			out = append(out, x)
		}
	}
	return out
}

// memory reads structures and arrays from the memory of the ranks.
func (v *valuer) memory(ctx context.Context, expr string, t typed) []value {
	cut := *t.of
	if cut.Kind == ptp.Array && cut.Size > mostData {
		cut.Count = max(mostData/cut.Elem.Size, 1)
		cut.Size = cut.Count * cut.Elem.Size
	}
	if cut.Size > mostData || !v.littleEndian(ctx, t.ranks) {
		return v.text(ctx, expr, t.ranks)
	}
	var out []value
	rest := t.ranks
	for _, g := range v.ask(ctx, "memory read", t.ranks, protocol.Args{Expr: "&(" + expr + ")", Count: cut.Size, Limit: everyValue}) {
		if g.Kind != protocol.KindResult {
			continue // it is in registers, or computed: use print
		}
		for _, c := range cellsOf(g, "data", "") {
			mem, err := hex.DecodeString(c.value)
			if err == nil && len(mem) > 0 {
				mem, err = cut.Memory(mem)
			}
			if err == nil && len(mem) > 0 {
				out = append(out, value{ranks: c.ranks, of: &cut, data: mem})
				rest = rest.Minus(c.ranks)
			}
		}
	}
	if !rest.IsEmpty() {
		out = append(out, v.text(ctx, expr, rest)...)
	}
	return out
}

// big is a number of up to eight bytes in big-endian order.
type big [8]byte

func (b *big) read(data []byte) uint64 {
	copy(b[len(b)-min(len(data), len(b)):], data)
	return binary.BigEndian.Uint64(b[:])
}
