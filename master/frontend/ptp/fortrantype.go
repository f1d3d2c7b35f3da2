// Types of Fortran, as gdb's Fortran prints them.

package ptp

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/ptp"
)

// fortranType is a type of Fortran.
type fortranType struct {
	kind    ptp.Kind // 0: it is not read, and values are shown as text
	size    int      // of a number, in bytes
	name    string   // of a derived type
	members []fortranMember
	bounds  []bound      // of an array, the dimension whose elements are adjacent first
	target  *fortranType // of a pointer; nil: it is not read
}

// fortranMember is a member of a derived type.
type fortranMember struct {
	name string
	of   fortranType
}

// bound is a dimension of an array.
type bound struct {
	low, count int // count is -1 if it is not known
}

// fortranName matches the types that gdb's Fortran writes, without their members: words, allocation,
// bounds.
var fortranName = regexp.MustCompile(`^(Type [\w:]+|character(?:\*(?:\d+|\(\*\))|\(kind=\d+\))?|[a-z]+\(kind=\d+\)|[a-z]+\*\d+)(?:, allocatable)?(?: \(([-\d:,*]+)\))?$`)

const fortranPointer = "PTR TO -> ( "

// isFortran reports whether the output of whatis is a type of Fortran. A word alone is one of C.
func isFortran(whatis string) bool {
	text := typeText(whatis)
	found := fortranName.FindStringSubmatch(text)
	return strings.HasPrefix(text, fortranPointer) || found != nil && (found[1] != "character" || found[2] != "")
}

// parseFortran reads the output of ptype. Members that are derived types are without their members.
func parseFortran(ptype string) fortranType {
	lines := strings.Split(typeText(ptype), "\n")
	last := strings.TrimPrefix(lines[len(lines)-1], "End ")
	if to, ok := strings.CutPrefix(typeText(ptype), fortranPointer); ok {
		t := parseFortran(strings.TrimSuffix(to, " )"))
		return fortranType{kind: ptp.Pointer, size: 8, target: &t}
	}
	t := fortranNamed(last)
	if t.kind == ptp.Struct && t.name != complexName {
		for _, line := range lines[1:] {
			if m, ok := parseFortranMember(line); ok {
				t.members = append(t.members, m)
			}
		}
	}
	return t
}

var (
	pointerMember = regexp.MustCompile(`^\s*PTR TO -> \( .* :: (\w+)\b`)
	otherMember   = regexp.MustCompile(`^\s*(.*) :: (\w+)(\(.*\))?$`)
)

// parseFortranMember reads a line "    real(kind=8) :: u(-5:994)".
func parseFortranMember(line string) (fortranMember, bool) {
	if found := pointerMember.FindStringSubmatch(line); found != nil {
		return fortranMember{found[1], fortranType{kind: ptp.Pointer, size: 8}}, true
	}
	found := otherMember.FindStringSubmatch(line)
	if found == nil {
		return fortranMember{}, false
	}
	text := found[1]
	if found[3] != "" {
		text += " " + found[3]
	}
	return fortranMember{found[2], fortranNamed(text)}, true
}

// fortranKinds are the kinds of Fortran's numbers.
var fortranKinds = map[string]ptp.Kind{"integer": ptp.Int, "real": ptp.Float, "logical": ptp.Bool, "complex": ptp.Struct}

// fortranNamed reads a type without its members: "real(kind=8), allocatable (0:99,200)".
func fortranNamed(text string) fortranType {
	found := fortranName.FindStringSubmatch(text)
	if found == nil {
		return fortranType{}
	}
	t := fortranType{bounds: parseBounds(found[2])}
	word, rest, _ := strings.Cut(found[1], " ")
	if word == "Type" {
		t.kind, t.name = ptp.Struct, rest
		return t
	}
	word = strings.TrimRight(word, "(kind=*)0123456789")
	digits := strings.Trim(found[1][len(word):], "(kind=*)")
	t.size, _ = strconv.Atoi(digits) // 0 for those without a size
	switch {
	case word == "character" && !strings.Contains(found[1], "*") && len(t.bounds) == 1: // it is as long as the array
		return fortranType{kind: ptp.TextKind, size: t.bounds[0].count}
	case word == "character" && digits == "0": // its length is not known; its text would be empty
		return fortranType{}
	case word == "character":
		t.kind = ptp.TextKind
	default:
		t.kind = fortranKinds[word]
	}
	if t.kind == ptp.Struct {
		part := fortranType{kind: ptp.Float, size: t.size}
		t.name, t.members = complexName, []fortranMember{{"re", part}, {"im", part}}
	}
	return t
}

// parseBounds reads "0:99,200,*"; a dimension that is not known has no count.
func parseBounds(text string) []bound {
	if text == "" {
		return nil
	}
	var all []bound
	for one := range strings.SplitSeq(text, ",") {
		from, to, both := strings.Cut(one, ":")
		if !both {
			from, to = "1", one
		}
		low, err1 := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		b := bound{low, max(high-low+1, 0)}
		if err1 != nil || err2 != nil || b.count > 1<<31-1 {
			b.count = -1
		}
		all = append(all, b)
	}
	return all
}

// member returns the type of a member of a derived type, or of one that a pointer points to.
func (t fortranType) member(name string) (fortranType, bool) {
	if t.target != nil {
		t = *t.target
	}
	i := slices.IndexFunc(t.members, func(m fortranMember) bool { return m.name == name })
	if i < 0 {
		return fortranType{}, false
	}
	return t.members[i].of, true
}

// element returns the type of the elements of an array.
func (t fortranType) element() fortranType {
	t.bounds = nil
	return t
}

// isKnown reports whether all bounds are known.
func (t fortranType) isKnown() bool {
	for _, b := range t.bounds {
		if b.count < 0 {
			return false
		}
	}
	return true
}
