// The command members: what a value consists of, by variable objects of gdb (GDB manual, GDB/MI Variable Objects).

package values

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

const (
	// maxMemberText bounds each value of an answer, in bytes.
	maxMemberText = 4 << 10
	// maxMembersText bounds all values of an answer, in bytes: 100 texts of gdb's own limit take 20 KiB.
	maxMembersText = 256 << 10
	// maxListed bounds the children that gdb makes of one object: it makes all children of an array at
	// once.
	maxListed = 20_000
)

// object is a variable object of gdb: a value, or a part of one.
type object struct {
	name    string // gdb's name of it
	member  protocol.Member
	value   string
	dynamic bool   // a pretty-printer shows it
	hint    string // what kind of value the printer says it is: "array", "map", "string"
	section bool   // an expression with a section of Fortran: gdb counts its elements from 1
	access  bool   // it stands for the members of a class with one access, and has no value
}

// walk executes one members: it makes an object of the expression, goes down the path, and lists what is there.
//
//	members s.list ["[3]", "x"]    s.list ─→ [3] ─→ x ─→ first … first+count-1
type walk struct {
	*Printer
	q       *request.Request
	fortran bool
	made    []string // objects that are to be deleted
	body    protocol.Members
	bytes   int // of the values so far
	values  []string
}

// members executes the command. It deletes the objects that it has made before it answers.
func (p *Printer) members(q *request.Request) {
	first, count := q.Args.First, q.Args.Count
	switch {
	case count == 0:
		count = protocol.DefaultMembers
	case count < 0:
		count = 0
	}
	if first < 0 || count > protocol.MaxMembers {
		p.Fail(q, protocol.NoSuchPage())
		return
	}
	w := &walk{Printer: p, q: q, body: protocol.Members{Expr: q.Args.Expr, Path: q.Args.Path, First: first}}
	p.inFortran(q, func(yes bool) {
		w.fortran = yes
		p.Tell("members", "-enable-pretty-printing")
		w.create(q.Args.Expr, func(o object) { w.descend(o, q.Args.Path, count) })
	})
}

// create makes an object of an expression. If gdb cannot, it answers with the error of an evaluation, which says why.
func (w *walk) create(expr string, then func(object)) {
	w.objects++
	name := "sdm" + strconv.Itoa(w.objects) + w.VariableSuffix()
	k := w.Ask(w.q, func(a request.Answer) {
		if !a.Failed() {
			w.made = append(w.made, name)
			o := objectOf(a.Results, w.fortran)
			o.name, o.member.Expr, o.member.Name = name, expr, expr
			o.section = w.fortran && strings.Contains(strings.ReplaceAll(expr, "::", ""), ":")
			if o.dynamic && o.member.Count == 0 && a.Results.Str("has_more") == "1" {
				o.member.Count = protocol.SomeMembers
			}
			then(o)
			return
		}
		w.askMI(w.q, expr, func(why request.Answer, _ string) {
			before, n, after, ok := gdbtext.Unscoped(expr, why.Results.Str("msg"))
			switch {
			case why.Failed() && ok && w.fortran:
				w.inProcedure(why, before, n, after, then)
			case why.Failed():
				w.refuse(why)
			default:
				w.refuse(a)
			}
		})
	}, "-var-create", append(w.At(w.q), name, "*", gdbtext.Operand(expr))...)
	k.Print, k.SeparateWarnings = true, true
}

// inProcedure tries again with the procedure of the frame in front of a name that gdb has taken for a function.
func (w *walk) inProcedure(why request.Answer, before, name, after string, then func(object)) {
	w.frame(w.q, func(f Frame, ok bool) {
		if !ok {
			w.refuse(why)
			return
		}
		w.create(before+gdbtext.ProcedureName(f.Func)+"::"+name+after, then)
	})
}

// objectOf reads an object from an answer of gdb.
func objectOf(t mi.Tuple, fortran bool) object {
	n, _ := t.Int("numchild")
	o := object{
		name: strings.Clone(t.Str("name")), value: t.Str("value"), dynamic: t.Str("dynamic") == "1",
		hint: strings.Clone(t.Str("displayhint")),
	}
	name, typ := strings.Clone(t.Str("exp")), strings.Clone(t.Str("type"))
	o.member = protocol.Member{Name: name, Type: typ, Count: n}
	if n > 0 && !o.isArray() {
		o.member.Count = protocol.SomeMembers // of a class gdb counts bases and kinds of access
	}
	o.access = typ == "" && (name == "public" || name == "private" || name == "protected")
	o.member.Base = typ != "" && name == typ && !fortran
	return o
}

// descend goes down the path.
func (w *walk) descend(o object, path []string, count int) {
	if len(path) == 0 {
		w.list(o, count)
		return
	}
	find := func(children []object) {
		i := slices.IndexFunc(children, func(c object) bool { return c.member.Name == path[0] })
		if i < 0 {
			w.fail("there is no " + protocol.Clip(path[0]) + " in " + w.text(o))
			return
		}
		w.locate(&children[i], func() { w.descend(children[i], path[1:], count) })
	}
	n, numbered := elementNumber(path[0])
	switch {
	case o.isArray() && numbered && !w.fortran:
		w.children(o, n, 1, func(c []object, _ bool) { find(c) })
	case o.isArray() && numbered:
		n -= w.lowest(o)
		w.children(o, max(n, 0), 1, func(c []object, _ bool) { find(c) })
	case o.dynamic && numbered && o.hint != "map":
		w.children(o, n, 1, func(c []object, _ bool) { find(c) })
	default:
		w.children(o, 0, maxListed, func(c []object, _ bool) { find(c) })
	}
}

// text names an object for messages.
func (w *walk) text(o object) string {
	if o.member.Expr != "" {
		return o.member.Expr
	}
	return o.member.Name
}

// list answers with an object and its children from first on.
func (w *walk) list(o object, count int) {
	w.body.Type, w.body.Count = o.member.Type, o.member.Count
	reply := func(children []object, more bool) {
		if why, bad := strings.CutPrefix(o.value, "<error: "); bad && len(children) == 0 {
			w.fail(strings.TrimSuffix(why, ">"))
			return
		}
		w.take(children)
		w.body.More = more || len(w.body.List) < len(children)
		if n := w.body.First + len(children); o.dynamic && !more && count > 0 && (len(children) > 0 || w.body.First == 0) {
			w.body.Count = n
		}
		w.delete()
		c := ColumnsOf(w.Process().Rank, w.q.Args.Limit)
		c.Add("value", clippedValue(o.value))
		for i, m := range w.body.List {
			c.Add("value."+m.Name, w.values[i])
		}
		w.Reply(w.q, w.body, c.Sorted()...)
	}
	if o.member.Count == 0 && !o.mayHaveParts() || count == 0 {
		w.textOf(&o, func() { reply(nil, false) })
		return
	}
	w.children(o, w.body.First, count, func(children []object, more bool) {
		w.complete(children, func() { w.textOf(&o, func() { reply(children, more) }) })
	})
}

// take puts children into the answer, as many as fit.
func (w *walk) take(children []object) {
	w.body.List = []protocol.Member{}
	name := uniqueNames()
	for _, c := range children { // keys that differ only where they are cut off, or members of one name
		c.member.Name = name(c.member.Name)
		value := clippedValue(c.value)
		if w.bytes += len(value); w.bytes > maxMembersText && len(w.body.List) > 0 {
			return
		}
		w.body.List, w.values = append(w.body.List, c.member), append(w.values, strings.Clone(value))
	}
}

func clippedValue(value string) string {
	if len(value) <= maxMemberText {
		return value
	}
	return strings.ToValidUTF8(value[:maxMemberText], "") + "..."
}

// mayHaveParts reports whether a pretty-printer may show parts of an object; gdb does not count them.
func (o object) mayHaveParts() bool { return o.dynamic && o.hint != "string" }

// children calls then with count children of an object from first on, and whether there are more.
func (w *walk) children(o object, first, count int, then func(children []object, more bool)) {
	switch {
	case o.isArray():
		w.elements(o, first, count, then)
	case o.dynamic && o.hint == "map":
		w.ask(o, 2*first, 2*(first+count), func(all []object, more bool) { then(pairs(all, first), more) })
	case o.dynamic:
		w.ask(o, first, first+count, then)
	default:
		w.ask(o, 0, maxListed, func(all []object, more bool) {
			w.flatten(o, all, func(all []object) {
				w.body.Count = len(all)
				end := min(first+count, len(all))
				then(all[min(first, end):end], more || end < len(all))
			})
		})
	}
}

// pairs joins keys and values of a map, unless the keys are structures. At is the number of the first pair.
func pairs(all []object, at int) []object {
	var joined []object
	for i := 0; i+1 < len(all); i += 2 {
		key, value := all[i], all[i+1]
		if key.member.Count != 0 || key.value == "{...}" {
			key.member.Name = "key " + strconv.Itoa(at+i/2)
			value.member.Name = "value " + strconv.Itoa(at+i/2)
			joined = append(joined, key, value)
			continue
		}
		value.member.Name = "[" + protocol.Clip(key.value) + "]"
		joined = append(joined, value)
	}
	return joined
}

// ask asks gdb for the children from up to, but not including, to.
func (w *walk) ask(o object, from, to int, then func(children []object, more bool)) {
	k := w.Ask(w.q, func(a request.Answer) {
		if a.Failed() {
			w.refuse(a)
			return
		}
		var all []object
		for child := range a.Results.Path("children").Fields.All("child") {
			all = append(all, objectOf(child.Fields, w.fortran))
		}
		then(all, a.Results.Str("has_more") == "1")
	}, "-var-list-children", append(w.At(w.q), "--all-values", o.name, strconv.Itoa(from), strconv.Itoa(to))...)
	k.Print, k.SeparateWarnings = true, true
}

// flatten replaces the objects "public", "private" and "protected" of a class of C++ by their children.
func (w *walk) flatten(o object, all []object, then func([]object)) {
	i := slices.IndexFunc(all, func(c object) bool { return c.access })
	if i < 0 {
		w.nameMembers(o, all)
		then(all)
		return
	}
	w.ask(all[i], 0, maxListed, func(inner []object, _ bool) {
		for n := range inner {
			if all[i].member.Name != "public" {
				inner[n].member.Access = all[i].member.Name
			}
		}
		w.flatten(o, slices.Replace(all, i, i+1, inner...), then)
	})
}

// nameMembers gives members of one name, which are unnamed structures, names of their own, and members in Fortran
// their expressions.
func (w *walk) nameMembers(o object, all []object) {
	name := uniqueNames()
	for i := range all {
		m := &all[i].member
		if w.fortran && o.member.Expr != "" {
			m.Expr = o.member.Expr + "%" + m.Name
		}
		m.Name = name(m.Name)
	}
}

// uniqueNames returns a function that makes names different which are the same: "x", "x #2".
func uniqueNames() func(string) string {
	seen := map[string]int{}
	return func(name string) string {
		if seen[name]++; seen[name] > 1 {
			return name + " #" + strconv.Itoa(seen[name])
		}
		return name
	}
}

// complete asks what gdb has not told about the children of an answer: their expressions, the text of arrays of
// characters, and whether what a pretty-printer shows has parts.
func (w *walk) complete(children []object, then func()) {
	left := 1
	done := func() {
		if left--; left == 0 {
			then()
		}
	}
	for i := range children {
		c := &children[i]
		if c.mayHaveParts() && c.member.Count == 0 {
			left++
			w.Ask(w.q, func(a request.Answer) {
				if n, _ := a.Results.Int("numchild"); n > 0 || a.Results.Str("has_more") == "1" {
					c.member.Count = protocol.SomeMembers
				}
				done()
			}, "-var-list-children", append(w.At(w.q), c.name, "0", "1")...).Print = true
		}
		left++
		w.locate(c, func() { w.textOf(c, done) })
	}
	done()
}

// locate asks for the expression of an object; there is none for what only a pretty-printer shows.
func (w *walk) locate(o *object, then func()) {
	if o.member.Expr != "" || w.fortran {
		then()
		return
	}
	w.Ask(w.q, func(a request.Answer) {
		o.member.Expr = gdbtext.Unparenthesized(strings.Clone(a.Results.Str("path_expr")))
		then()
	}, "-var-info-path-expression", append(w.At(w.q), o.name)...)
}

// textOf asks for the text of an array of characters, since gdb tells only its length, whether an empty array of
// Fortran is allocated, and why a value cannot be read.
func (w *walk) textOf(c *object, then func()) {
	text := c.isArray() && (charArray.MatchString(c.member.Type) || w.fortran && c.member.Count == 0)
	if c.member.Expr == "" || !text && (c.value != "" || c.dynamic) {
		then()
		return
	}
	w.askMI(w.q, c.member.Expr, func(a request.Answer, value string) {
		if c.value = value; a.Failed() {
			c.value = "<error: " + a.Results.Str("msg") + ">"
		}
		then()
	})
}

var charArray = pattern.New(`^(?:const |volatile |unsigned |signed )*(?:char|wchar_t|char8_t|char16_t|char32_t) \[[0-9]+\]$`)

// fail answers with a fault, and refuse with gdb's error.
func (w *walk) fail(text string) {
	w.delete()
	w.Fail(w.q, &protocol.Fault{Kind: protocol.FaultGDB, Message: text})
}

func (w *walk) refuse(a request.Answer) {
	w.delete()
	w.Refused(w.q, a)
}

// delete deletes the objects that were made.
func (w *walk) delete() {
	for _, name := range w.made {
		w.Tell("members", "-var-delete", name)
	}
	w.made = nil
}
