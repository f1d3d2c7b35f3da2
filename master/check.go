// Checks of calls, and rank sets.

package master

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"sdm/protocol"
	"sdm/protocol/sideeffect"
)

// usage returns the fault of a call with invalid arguments.
func usage(op, hint, format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Op: op, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// lookup returns the command of a call, or a fault that suggests a similar one.
func lookup(name string) (protocol.CommandInfo, *protocol.Fault) {
	if info, ok := protocol.LookupCommand(name); ok {
		if info.Offline {
			return info, usage(name, "sdm open FILE, then "+name, "only a hang file has it, and this job runs")
		}
		return info, nil
	}
	hint := "help lists the commands"
	if near := nearest(name); near != "" {
		hint = "did you mean " + near + "?"
	}
	return protocol.CommandInfo{}, usage("", hint, "unknown command %q", protocol.Clip(name))
}

// checkArgs refuses arguments that are invalid on every rank.
func checkArgs(info protocol.CommandInfo, a protocol.Args) *protocol.Fault {
	command := info.Name
	if info.Lacks != nil && info.Lacks(a) {
		return usage(command, "", "needs %s", info.Asks)
	}
	if names := info.Unread(a); len(names) > 0 {
		hint := "it has no arguments"
		if len(info.Args) > 0 {
			hint = "its arguments are " + strings.Join(info.Args, ", ")
		}
		return usage(command, hint, "does not read %s", strings.Join(names, ", "))
	}
	if d, err := time.ParseDuration(cmp.Or(a.Within, "1s")); err != nil || d <= 0 {
		return usage(command, "give it as 20s, or leave it out", "within %q is not a time", protocol.Clip(a.Within))
	}
	for _, text := range textsIn(reflect.ValueOf(a)) {
		switch {
		case len(text) > protocol.MaxText:
			return usage(command, "", "a text of %d bytes is longer than any command takes (%d): %q", len(text), protocol.MaxText, protocol.Clip(text))
		case !utf8.ValidString(text): // JSON cannot carry it unchanged
			return usage(command, "write such bytes as escapes, as in \"\\377\"", "%q is not UTF-8 text", protocol.Clip(text))
		}
	}
	return nil
}

// checkAssertion refuses a condition that would change what it is about.
func checkAssertion(command string, a protocol.Args) *protocol.Fault {
	if !sideeffect.Assigns(a.Expr) {
		return nil
	}
	return usage(command, "compare with ==; in Fortran, write .ne. for /=", "%s assigns something", protocol.Clip(a.Expr))
}

// textsIn returns all texts of a value and of what it refers to.
func textsIn(v reflect.Value) []string {
	var texts []string
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Pointer:
		if !v.IsNil() {
			return textsIn(v.Elem())
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && v.Type().Elem().Kind() != reflect.Uint8; i++ {
			texts = append(texts, textsIn(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				texts = append(texts, textsIn(v.Field(i))...)
			}
		}
	}
	return texts
}
