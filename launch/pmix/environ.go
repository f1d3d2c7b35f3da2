// Changes of the environment as directives of PMIx.

package pmix

import (
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// Envars returns directives for a program that have the same result as a list of sdm, whatever the
// order in which a server applies them: at most one for each variable and kind. Servers differ:
// PRRTE 3.0.8 applies each list backwards, PRRTE 5.0.0rc1 the directives of programs before the
// job's. The error names a variable for which there is no such directive.
func Envars(list []protocol.EnvDirective) ([]Info, error) {
	var order []string
	all := map[string]*envar{}
	for _, d := range list {
		v := all[d.Name]
		if v == nil {
			v = &envar{}
			all[d.Name] = v
			order = append(order, d.Name)
		}
		if err := v.apply(d); err != nil {
			return nil, err
		}
	}
	var infos []Info
	for _, name := range order {
		infos = append(infos, all[name].infos(name)...)
	}
	return infos, nil
}

// envar is what a list of directives does to a variable.
type envar struct {
	known     bool    // the result does not depend on the old value
	is        bool    // if known: the variable is set in the end
	value     string  // if is: its value
	added     *string // the value if there was none; nil: none is added
	before    string  // what is prepended to the old value
	after     string  // what is appended to the old value
	sepBefore string  // separator after before; "": nothing is prepended
	sepAfter  string  // separator before after; "": nothing is appended
}

func (v *envar) apply(d protocol.EnvDirective) error {
	sep := d.Sep
	if sep == "" {
		sep = ":"
	}
	switch d.Op {
	case "set":
		*v = envar{known: true, is: true, value: d.Value}
		return nil
	case "unset":
		*v = envar{known: true}
		return nil
	case "add":
		v.add(d.Value)
		return nil
	}
	if v.known {
		v.join(d.Op == "prepend", d.Value, sep)
		return nil
	}
	return v.extend(d.Op == "prepend", d, sep)
}

func (v *envar) add(value string) {
	switch {
	case v.known && !v.is:
		v.is, v.value = true, value
	case !v.known && v.added == nil && v.sepBefore == "" && v.sepAfter == "":
		v.added = &value
	}
}

// join changes a known value.
func (v *envar) join(front bool, value, sep string) {
	switch {
	case v.value == "":
		v.value = value
	case front:
		v.value = value + sep + v.value
	default:
		v.value += sep + value
	}
	v.is = true
}

// extend changes a value that is not known.
func (v *envar) extend(front bool, d protocol.EnvDirective, sep string) error {
	here, other := &v.sepBefore, v.sepAfter
	if !front {
		here, other = &v.sepAfter, v.sepBefore
	}
	if len(sep) != 1 || v.added != nil || *here != "" && *here != sep || other != "" && other != sep {
		return fmt.Errorf("environment of %s: PMIx cannot express %s after what came before it (set the whole value)", d.Name, d.Op)
	}
	switch {
	case *here == "" && front:
		v.before = d.Value
	case *here == "":
		v.after = d.Value
	case front:
		v.before = d.Value + sep + v.before
	default:
		v.after += sep + d.Value
	}
	*here = sep
	return nil
}

func (v *envar) infos(name string) (infos []Info) {
	switch {
	case v.known && v.is:
		return []Info{OfEnvar(SetEnvar, Envar{name, v.value, ":"})}
	case v.known:
		return []Info{String(UnsetEnvar, name)}
	case v.added != nil:
		return []Info{OfEnvar(AddEnvar, Envar{name, *v.added, ":"})}
	}
	if v.sepBefore != "" {
		infos = append(infos, OfEnvar(PrependEnvar, Envar{name, v.before, v.sepBefore}))
	}
	if v.sepAfter != "" {
		infos = append(infos, OfEnvar(AppendEnvar, Envar{name, v.after, v.sepAfter}))
	}
	return infos
}

// inShell are the directives whose result depends on the value of a variable on the node, as lines for
// a shell that takes their value and separator from its arguments.
var inShell = map[Key]struct {
	line string // %[1]s is the variable
	args int
}{
	UnsetEnvar:   {`unset %[1]s`, 0},
	AddEnvar:     {`export %[1]s="${%[1]s-$1}"; shift`, 1},
	PrependEnvar: {`export %[1]s="$1${%[1]s:+$2$%[1]s}"; shift 2`, 2},
	AppendEnvar:  {`export %[1]s="${%[1]s:+$%[1]s$2}$1"; shift 2`, 2},
}

// shellName matches the variables that a shell can change.
var shellName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// byShell returns the program with a shell before it that executes those directives, for a server
// of version v that does not see the variables of its own environment when it executes them: PRRTE
// 3.0.8 then prepends to an empty value, adds a variable that exists, and unsets none. The error is
// a *Refusal.
func (a App) byShell(v Version) (App, error) {
	script := ""
	var args []string
	kept := make([]Info, 0, len(a.Info))
	for _, one := range a.Info {
		how, is := inShell[one.Key]
		if !is {
			kept = append(kept, one)
			continue
		}
		name := one.Text
		if one.Envar != nil {
			name = one.Envar.Name
			args = append(args, []string{one.Envar.Value, one.Envar.Separator}[:how.args]...)
		}
		if !shellName.MatchString(name) {
			return a, &Refusal{name + " (" + string(one.Key) + ")", v, "a shell that would do it cannot change a variable of this name"}
		}
		script += fmt.Sprintf(how.line, name) + "\n"
	}
	if script != "" {
		a.Argv = slices.Concat([]string{"/bin/sh", "-c", script + `exec "$@"`, "sh"}, args, a.Argv)
		a.Info = kept
	}
	return a, nil
}

// setByRequest returns the program with the variables that are set in its own environment, in place
// of directives. PRRTE stores the directives of the first program of a request with the job's.
func (a App) setByRequest() App {
	env := slices.Clone(a.Env)
	kept := make([]Info, 0, len(a.Info))
	for _, one := range a.Info {
		if one.Key == SetEnvar && one.Envar != nil {
			env = append(env, one.Envar.Name+"="+one.Envar.Value)
		} else {
			kept = append(kept, one)
		}
	}
	a.Env, a.Info = env, kept
	return a
}
