// Values of Fortran. gdb's Fortran reads them: its C knows neither modules nor arrays whose elements are
// not adjacent.

package ptp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// maxScalars bounds the elements of an array that are read at once, over all dimensions.
const maxScalars = 16 << 10

// fortran returns the values of an expression whose type is one of Fortran, from the answers to ptype.
func (v *valuer) fortran(ctx context.Context, expr string, ranks rank.Set, layouts []protocol.Group,
	follow bool) []value {
	var out []value
	for _, g := range layouts {
		var body textBody
		if g.Ranks = g.Ranks.Intersect(ranks); g.Ranks.IsEmpty() {
			continue
		}
		if g.Kind != protocol.KindResult {
			out = append(out, failed(g))
		} else if v.decodeBody(g, &body) {
			out = append(out, v.ofFortran(ctx, expr, parseFortran(body.Text), g.Ranks, follow)...)
		}
	}
	return out
}

// ofFortran returns the values of an expression of one type.
func (v *valuer) ofFortran(ctx context.Context, expr string, t fortranType, ranks rank.Set, follow bool) []value {
	switch {
	case t.kind == 0 || !t.isKnown():
		return v.text(ctx, expr, ranks)
	case t.kind == ptp.Pointer:
		return v.fortranPointer(ctx, expr, t, ranks, follow)
	case len(t.bounds) > 0:
		return v.fortranArray(ctx, expr, t, ranks)
	case t.kind == ptp.Struct && !v.whole:
		return []value{{ranks: ranks, is: ptp.Members(t.name, nil, nil)}}
	case t.kind == ptp.Struct:
		v.resolveMembers(ctx, &t, expr, ranks, 0)
		return v.printedFortran(ctx, withElements(maxShown)+expr, t, ranks)
	}
	if t.kind == ptp.TextKind {
		expr = wholeText + expr
	}
	return v.printedFortran(ctx, expr, t, ranks)
}

// maxShown is how many characters and elements are read of each member of a derived type; elements of
// arrays are not sent.
const maxShown = 200

// withElements returns the options with which print shows arrays and texts up to a length, without
// <repeats N times>.
func withElements(n int) string { return fmt.Sprintf("-elements %d -repeats unlimited -- ", n) }

func (v *valuer) printedFortran(ctx context.Context, expr string, t fortranType, ranks rank.Set) []value {
	return v.printed(ctx, expr, ranks, "", func(text string) (ptp.Value, error) {
		shown, err := parseFortranValue(text)
		if err != nil {
			return ptp.Value{}, err
		}
		return t.value(shown)
	})
}

// fortranArray returns an array: without elements if the value is not wanted whole, and otherwise as
// many as may be read at once. Of rows too long for that it has one byte of data: Eclipse asks for each.
func (v *valuer) fortranArray(ctx context.Context, expr string, t fortranType, ranks rank.Set) []value {
	last := len(t.bounds) - 1
	row := 1
	for _, b := range t.bounds[:last] {
		row = min(row*max(b.count, 1), 1<<31)
	}
	n := t.bounds[last].count
	if v.whole && n > 0 && t.kind == ptp.Struct {
		first := designator{base: expr, subs: lowest(t.bounds)}
		v.resolveMembers(ctx, &t, first.text(), ranks, 0)
	}
	switch {
	case !v.whole:
		return []value{{ranks: ranks, is: ptp.Value{Format: t.format()}}}
	case n == 0:
		return []value{{ranks: ranks, is: ptp.Value{Format: t.format(), Data: []byte{}}}}
	}
	most := max(maxScalars/row, pageOfArray)
	if n > most {
		whole := designator{base: expr, bounds: t.bounds, subs: free(t.bounds)}
		expr, t.bounds[last].count = whole.page(0, most).text(), most
		n = most
	}
	if n*row > maxScalars {
		return []value{{ranks: ranks, is: ptp.Value{Format: t.format(), Data: []byte{}}}}
	}
	return v.printedFortran(ctx, withElements(max(n*row, maxShown, t.size))+expr, t, ranks)
}

// fortranPointer returns an address and, if requested and readable, the target.
func (v *valuer) fortranPointer(ctx context.Context, expr string, t fortranType, ranks rank.Set, follow bool) []value {
	addresses := v.printedFortran(ctx, expr, t, ranks)
	if !follow || !v.whole || t.target == nil {
		return addresses
	}
	var out []value
	for _, a := range addresses {
		if len(a.is.Data) < 2 || !strings.HasPrefix(a.is.Format, "^") { // null
			out = append(out, a)
			continue
		}
		text := "*(" + expr + ")"
		for _, x := range v.targetOf(ctx, text, *t.target, a.ranks) {
			is := a.is
			if !x.none {
				is = ptp.Value{Format: strings.TrimSuffix(is.Format, "v0") + x.is.Format, Data: slices.Concat(is.Data, x.is.Data)}
			}
			out = append(out, value{ranks: x.ranks, is: is})
		}
	}
	return out
}

// targetOf returns what a pointer points to. The pointer tells its type without the bounds of arrays that
// have been allocated. gdb 13 tells them, but not for all types: its ptype and whatis look for their
// descriptions at address 0.
func (v *valuer) targetOf(ctx context.Context, expr string, t fortranType, ranks rank.Set) []value {
	var out []value
	for _, g := range v.ask(ctx, "ptype", ranks, protocol.Args{Expr: expr}) {
		var body textBody
		of := t
		if g.Kind == protocol.KindResult && v.decodeBody(g, &body) {
			of = parseFortran(body.Text)
		}
		out = append(out, v.ofFortran(ctx, expr, of, g.Ranks, false)...)
	}
	return out
}

// typeInFortran is GET TYPE of what Eclipse has written as C does. otherwise is gdb's answer to that.
func (j *action) typeInFortran(ctx context.Context, expr string, otherwise protocol.Group) {
	for _, d := range j.designators(ctx, expr, otherwise.Ranks) {
		if d.text() == expr {
			continue
		}
		for _, g := range j.results(ctx, "whatis", d.ranks, protocol.Args{Expr: d.text()}, ptp.UnknownVariable) {
			var body textBody
			if j.decodeBody(g, &body) {
				j.say(ptp.EventType, g.Ranks, ptp.Latin1(typeText(body.Text)))
			}
		}
		otherwise.Ranks = otherwise.Ranks.Minus(d.ranks)
	}
	if !otherwise.Ranks.IsEmpty() {
		j.fail(otherwise, ptp.UnknownVariable)
	}
}

// unreadable is what gdb 13 says of such types.
var unreadable = regexp.MustCompile(`Cannot access memory at address`)

// memberOfTarget returns the values of a member, (pointer)%name, whose type gdb 13 does not tell.
func (v *valuer) memberOfTarget(ctx context.Context, expr string, follow bool, otherwise value) []value {
	t, ok := v.typeOfMember(ctx, expr, otherwise.ranks, 0)
	if !ok {
		return []value{otherwise}
	}
	return v.ofFortran(ctx, expr, t, otherwise.ranks, follow)
}

// typeOfMember returns the type of a member, from the type of what it is a member of.
func (v *valuer) typeOfMember(ctx context.Context, expr string, ranks rank.Set, depth int) (t fortranType, ok bool) {
	i := strings.LastIndex(expr, ")%")
	if i < 0 || !strings.HasPrefix(expr, "(") || depth > maxDerived {
		return t, false
	}
	parent, ok := v.ptype(ctx, expr[1:i], ranks)
	if !ok {
		if parent, ok = v.typeOfMember(ctx, expr[1:i], ranks, depth+1); !ok {
			return t, false
		}
	}
	if t, ok = parent.member(expr[i+2:]); ok && t.kind == ptp.Struct && len(t.members) == 0 {
		named, _ := v.ptype(ctx, t.name, ranks) // without members if it is not known
		t.members = named.members
	}
	return t, ok
}

// ptype returns the type of an expression, or the type with a name, if it is the same on all ranks.
func (v *valuer) ptype(ctx context.Context, expr string, ranks rank.Set) (t fortranType, ok bool) {
	if v.asked++; v.asked > maxResolved {
		return t, false
	}
	groups := v.ask(ctx, "ptype", ranks, protocol.Args{Expr: expr})
	var body textBody
	if len(groups) != 1 || groups[0].Kind != protocol.KindResult || !v.decodeBody(groups[0], &body) {
		return t, false
	}
	return parseFortran(body.Text), true
}

// notFortran matches errors of gdb's Fortran about what Eclipse writes as C does.
var notFortran = regexp.MustCompile(`syntax error|Argument to arithmetic operation`)

// What Eclipse writes for an element (x)[3], a page of elements *((x)+100)@100, and a member (x).y or
// (x)->y.
var (
	elementOf = regexp.MustCompile(`^\((.*)\)\[([0-9]{1,9})\]$`)
	pageOf    = regexp.MustCompile(`^\*\(\((.*)\)\+([0-9]{1,9})\)@([0-9]{1,9})$`)
	memberOf  = regexp.MustCompile(`^\((.*)\)(?:\.|->)(\w+)$`)
)

// designator is an expression of Fortran: a variable or a member, with subscripts. Some of these may be free.
type designator struct {
	ranks  rank.Set
	base   string
	bounds []bound
	subs   []string // none: the base alone
}

const freeSub = ":"

func (p designator) text() string {
	if len(p.subs) == 0 {
		return p.base
	}
	return "(" + p.base + ")(" + strings.Join(p.subs, ",") + ")"
}

// with returns the designator with a subscript in its last free dimension, which is the first one in C.
func (p designator) with(sub func(bound) string) designator {
	p.subs = slices.Clone(p.subs)
	for i := len(p.subs) - 1; i >= 0; i-- {
		if p.subs[i] == freeSub {
			p.subs[i] = sub(p.bounds[i])
			break
		}
	}
	return p
}

func (p designator) page(from, count int) designator {
	return p.with(func(b bound) string { return fmt.Sprintf("%d:%d", b.low+from, b.low+from+count-1) })
}

// free returns subscripts of all dimensions.
func free(bounds []bound) []string { return slices.Repeat([]string{freeSub}, len(bounds)) }

// lowest returns the subscripts of the first element.
func lowest(bounds []bound) []string {
	var subs []string
	for _, b := range bounds {
		subs = append(subs, strconv.Itoa(b.low))
	}
	return subs
}

// designators writes what Eclipse has written as C does in Fortran. Bounds may differ between ranks. Ranks
// for which this is not possible are not in the result.
func (j *action) designators(ctx context.Context, expr string, ranks rank.Set) []designator {
	if found := memberOf.FindStringSubmatch(expr); found != nil {
		all := j.designators(ctx, found[1], ranks)
		for i, p := range all {
			all[i] = designator{ranks: p.ranks, base: "(" + p.text() + ")%" + found[2]} // a%b%c fails in gdb 13, if b is a pointer
		}
		return all
	}
	if found := elementOf.FindStringSubmatch(expr); found != nil {
		at, _ := strconv.Atoi(found[2]) // nine digits at most
		return j.arrays(ctx, found[1], ranks, func(p designator) designator {
			return p.with(func(b bound) string { return strconv.Itoa(b.low + at) })
		})
	}
	if found := pageOf.FindStringSubmatch(expr); found != nil {
		from, _ := strconv.Atoi(found[2])
		count, _ := strconv.Atoi(found[3])
		return j.arrays(ctx, found[1], ranks, func(p designator) designator { return p.page(from, count) })
	}
	return []designator{{ranks: ranks, base: expr}}
}

// arrays returns designators within arrays.
func (j *action) arrays(ctx context.Context, expr string, ranks rank.Set,
	within func(designator) designator) []designator {
	var out []designator
	for _, p := range j.designators(ctx, expr, ranks) {
		if slices.Contains(p.subs, freeSub) {
			out = append(out, within(p))
			continue
		}
		for _, g := range j.ask(ctx, "whatis", p.ranks, protocol.Args{Expr: p.text()}) {
			var body textBody
			if g.Kind != protocol.KindResult || !j.decodeBody(g, &body) {
				continue
			}
			if bounds := fortranNamed(typeText(body.Text)).bounds; len(bounds) > 0 {
				out = append(out, within(designator{ranks: g.Ranks, base: p.text(), bounds: bounds, subs: free(bounds)}))
			}
		}
	}
	return out
}

// maxDerived bounds derived types within derived types.
const maxDerived = 8

// resolveMembers looks up the members of derived types within a derived type, which is the type of
// an expression.
func (v *valuer) resolveMembers(ctx context.Context, t *fortranType, expr string, ranks rank.Set, depth int) {
	for i := range t.members {
		m := &t.members[i]
		if m.of.kind != ptp.Struct || len(m.of.members) > 0 || len(m.of.bounds) > 0 || depth > maxDerived {
			continue
		}
		path := "(" + expr + ")%" + m.name
		of, ok := v.ptype(ctx, path, ranks)
		if !ok {
			of, _ = v.ptype(ctx, m.of.name, ranks) // without members if it is not known
		}
		m.of.members = of.members
		v.resolveMembers(ctx, &m.of, path, ranks, depth+1)
	}
}
