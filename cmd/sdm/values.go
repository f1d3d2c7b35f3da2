// Values of flags.

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/master/frontend/console"
	"sdm/protocol"
)

// scriptFlag is one -x or -e.
type scriptFlag struct {
	flag, value string
}

// scriptValue collects -x and -e in one list, because their order counts.
type scriptValue struct {
	list *[]scriptFlag
	flag string
}

func (v scriptValue) Set(s string) error {
	*v.list = append(*v.list, scriptFlag{v.flag, s})
	return nil
}

func (v scriptValue) String() string { return "" }

func (v scriptValue) Type() string { return "string" }

// script reads one -x or -e and checks its commands.
func (f scriptFlag) script(ctx context.Context) (console.Script, error) {
	if f.flag == "-x" {
		return console.ReadScript(ctx, f.value)
	}
	s := console.Script{Name: "-e", Lines: strings.Split(f.value, "\n")}
	return s, s.Check()
}

// keepValue is --keep, which is also a wish to have a session that can be left.
type keepValue struct{ o *options }

func (v keepValue) Set(s string) error {
	err := newDuration(&v.o.keep, 0).Set(s)
	v.o.keepGiven = true
	return err
}

func (v keepValue) String() string { return "" }

func (v keepValue) Type() string { return "duration" }

// modeValue is the value of --mode: who may read and write a file, in octal as for chmod.
type modeValue struct{ mode *os.FileMode }

func (v modeValue) Set(s string) error {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n > 0o777 || n&0o600 != 0o600 {
		return fmt.Errorf("%q is not the mode of a file that its owner reads and writes (as for chmod: 600, 640, 644)", s)
	}
	*v.mode = os.FileMode(n)
	return nil
}

func (v modeValue) String() string { return "" }

func (v modeValue) Type() string { return "mode" }

// declareMode adds --mode, for commands that write hang files.
func (o *options) declareMode(f *pflag.FlagSet) {
	f.Var(modeValue{&o.mode}, "mode", "`mode` of the files that are written, as for chmod (default: 600)")
}

// envValue collects the --env flags in one list, because their order counts.
type envValue struct {
	list *[]protocol.EnvDirective
	op   string
}

func (v envValue) Set(s string) error {
	d, err := readDirective(v.op, s)
	if err == nil {
		*v.list = append(*v.list, d)
	}
	return err
}

func (v envValue) String() string { return "" }

func (v envValue) Type() string { return "string" }

// npValue is -n. Environment flags after it apply to its program only.
type npValue struct{ o *runOptions }

func (v npValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err == nil {
		v.o.np, v.o.jobLevel = n, len(v.o.ranks.directives)
	}
	return err
}

func (v npValue) String() string {
	if v.o == nil {
		return "0"
	}
	return strconv.Itoa(v.o.np)
}

func (v npValue) Type() string { return "int" }

// readDirective reads NAME=VALUE, NAME (unset), or NAME[SEP]=VALUE (prepend and append).
func readDirective(op, s string) (protocol.EnvDirective, error) {
	d := protocol.EnvDirective{Op: op}
	if op == "unset" {
		d.Name = s
		if s == "" || strings.Contains(s, "=") {
			return d, errors.New("give the NAME alone")
		}
		return d, nil
	}
	joins := op == "prepend" || op == "append"
	if open := strings.IndexByte(s, '['); joins && open > 0 && open < strings.IndexByte(s, '=') {
		end := strings.Index(s, "]=")
		if end < open {
			return d, fmt.Errorf("the separator is not closed (NAME[;]=VALUE)")
		}
		d.Name, d.Sep, d.Value = s[:open], s[open+1:end], s[end+2:]
		return d, nil
	}
	var ok bool
	if d.Name, d.Value, ok = strings.Cut(s, "="); !ok || d.Name == "" {
		return d, fmt.Errorf("%q is not NAME=VALUE", s)
	}
	return d, nil
}

// duration is a flag for a duration: in Go's notation, or a number of seconds.
type duration time.Duration

func newDuration(d *time.Duration, value time.Duration) *duration {
	*d = value
	return (*duration)(d)
}

func (d *duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		var seconds float64
		if seconds, err = strconv.ParseFloat(s, 64); err == nil && !(math.Abs(seconds) < 1e9) { // or NaN
			err = strconv.ErrRange
		}
		v = time.Duration(seconds * float64(time.Second))
	}
	if err == nil {
		*d = duration(v)
	}
	return err
}

func (d *duration) String() string {
	if *d == 0 {
		return "0" // no default to show
	}
	return time.Duration(*d).String()
}

func (d *duration) Type() string { return "duration" }

// meant returns an error that tells which values a flag accepts.
func meant(e *pflag.InvalidValueError) error {
	switch e.GetFlag().Value.Type() {
	case "int":
		return errors.New("give a whole number")
	case "duration":
		return errors.New("give a duration, such as 500ms, 2s or 1m30s")
	case "bool":
		return errors.New("give true or false")
	}
	return e.Unwrap()
}
