// Directives that change an environment, applied in order.

package launch

import (
	"fmt"
	"strings"

	"sdm/protocol"
)

// Environ returns the environment that results when the directives are applied in order to base
// (NAME=VALUE). base is not changed. A variable keeps its place; new ones come last. If a name
// occurs more than once, getenv(3) sees the first; the others are removed when a directive changes
// the variable.
func Environ(base []string, directives []protocol.EnvDirective) ([]string, error) {
	env := append([]string(nil), base...)
	for _, d := range directives {
		if err := checkDirective(d); err != nil {
			return nil, err
		}
		env = apply(env, d)
	}
	return env, nil
}

func apply(env []string, d protocol.EnvDirective) []string {
	old, have, rest := take(env, d.Name)
	value := d.Value
	sep := d.Sep
	if sep == "" {
		sep = ":"
	}
	switch {
	case d.Op == "unset":
		return rest
	case d.Op == "add" && have:
		return env
	case d.Op == "prepend" && old != "":
		value = d.Value + sep + old
	case d.Op == "append" && old != "":
		value = old + sep + d.Value
	}
	return put(env, d.Name, value)
}

// take returns the value of a variable and the environment without it.
func take(env []string, name string) (value string, have bool, rest []string) {
	for _, e := range env {
		v, ok := strings.CutPrefix(e, name+"=")
		switch {
		case !ok:
			rest = append(rest, e)
		case !have:
			value, have = v, true
		}
	}
	return value, have, rest
}

func put(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	done := false
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			out = append(out, e)
		} else if !done {
			out = append(out, name+"="+value)
			done = true
		}
	}
	if !done {
		out = append(out, name+"="+value)
	}
	return out
}

func checkDirective(d protocol.EnvDirective) error {
	switch d.Op {
	case "set", "add", "unset", "prepend", "append":
	default:
		return fmt.Errorf("environment of %s: unknown operation %q (set, add, unset, prepend, append)", d.Name, d.Op)
	}
	if d.Name == "" || strings.ContainsAny(d.Name, "=\x00") {
		return fmt.Errorf("environment: %q is not the name of a variable", d.Name)
	}
	if strings.Contains(d.Value, "\x00") || strings.Contains(d.Sep, "\x00") {
		return fmt.Errorf("environment of %s: a value cannot hold a zero byte", d.Name)
	}
	return nil
}
