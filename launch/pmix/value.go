// Typed values of PMIx.

package pmix

import (
	"fmt"
	"slices"
)

// Type is the type of a Value, named after libpmix's pmix_data_type_t.
type Type string

// The types. Values of other types arrive with the type Other and without content.
const (
	Text   Type = "string"
	Bool   Type = "bool"   // Number is 0 or 1
	Int    Type = "int"    // int, int32
	Uint16 Type = "uint16" // uint16
	Uint32 Type = "uint32" // uint32
	Uint64 Type = "uint64" // uint64, size
	PID    Type = "pid"
	RankT  Type = "rank"
	Status Type = "status"
	ProcT  Type = "proc"
	EnvarT Type = "envar"
	Infos  Type = "infos" // an array of info
	Procs  Type = "procs" // an array of proc
	Table  Type = "table" // an array of proc_info
	Texts  Type = "texts" // an array of string
	Other  Type = "other"
)

// Types lists all types. It is read only.
var Types = []Type{Text, Bool, Int, Uint16, Uint32, Uint64, PID, RankT, Status, ProcT, EnvarT, Infos, Procs, Table,
	Texts, Other}

// Wildcard is the rank that stands for all ranks of a namespace (PMIX_RANK_WILDCARD).
const Wildcard uint32 = 1<<32 - 2

// Proc names a process: a rank of a namespace.
type Proc struct {
	Nspace string `json:"nspace"`
	Rank   uint32 `json:"rank"`
}

// All returns the name of all processes of a namespace.
func All(nspace string) Proc { return Proc{nspace, Wildcard} }

func (p Proc) String() string {
	if p.Rank == Wildcard {
		return p.Nspace
	}
	return fmt.Sprintf("%s.%d", p.Nspace, p.Rank)
}

// Envar is a directive about a variable of the environment.
type Envar struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Separator string `json:"separator"` // one byte
}

// ProcInfo is a row of a table of processes.
type ProcInfo struct {
	Proc
	Host       string    `json:"host"`
	Executable string    `json:"executable"`
	PID        int       `json:"pid"`
	ExitCode   int       `json:"exit"`
	State      ProcState `json:"state"`
}

// ProcState is the state of a process (pmix_proc_state_t).
type ProcState int

// The states that matter here. From StateTerminated on a process has ended.
const (
	StateRunning    ProcState = 5
	StateConnected  ProcState = 6
	StateTerminated ProcState = 20
)

// Value is a typed value. Type tells which of the other fields holds it.
type Value struct {
	Type   Type       `json:"type"`
	Text   string     `json:"text,omitempty"`
	Number int64      `json:"number,omitempty"` // all numbers, Bool, Status
	Proc   *Proc      `json:"proc,omitempty"`
	Envar  *Envar     `json:"envar,omitempty"`
	Infos  []Info     `json:"infos,omitempty"`
	Procs  []Proc     `json:"procs,omitempty"`
	Table  []ProcInfo `json:"table,omitempty"`
	Texts  []string   `json:"texts,omitempty"`
}

// Info is a value with the key that gives it its meaning: a directive of a request, or a part of
// a reply.
type Info struct {
	Key Key `json:"key"`
	Value
	Required bool `json:"required,omitempty"` // the server is to refuse the call if it does not know Key
}

// True returns the directive Key = true.
func True(k Key) Info { return Info{Key: k, Value: Value{Type: Bool, Number: 1}} }

// String returns the directive Key = text.
func String(k Key, text string) Info { return Info{Key: k, Value: Value{Type: Text, Text: text}} }

// Number returns the directive Key = n; the type is a type of numbers.
func Number(k Key, t Type, n int64) Info { return Info{Key: k, Value: Value{Type: t, Number: n}} }

// OfProc returns the directive Key = p.
func OfProc(k Key, p Proc) Info { return Info{Key: k, Value: Value{Type: ProcT, Proc: &p}} }

// OfEnvar returns the directive Key = e.
func OfEnvar(k Key, e Envar) Info { return Info{Key: k, Value: Value{Type: EnvarT, Envar: &e}} }

// Find returns the first value of a key.
func Find(info []Info, k Key) (Value, bool) {
	i := slices.IndexFunc(info, func(one Info) bool { return one.Key == k })
	if i < 0 {
		return Value{}, false
	}
	return info[i].Value, true
}

// maxDepth limits arrays in arrays. Real answers have two levels.
const maxDepth = 4

// check validates a value that is not trusted: a known type, and the part of the type.
func (v *Value) check(depth int) error {
	switch {
	case !slices.Contains(Types, v.Type):
		return fmt.Errorf("unknown type %q", v.Type)
	case v.Type == ProcT && v.Proc == nil, v.Type == EnvarT && v.Envar == nil:
		return fmt.Errorf("type %s without a value", v.Type)
	case v.Type == EnvarT && len(v.Envar.Separator) > 1:
		return fmt.Errorf("separator %q of %s is not one byte", v.Envar.Separator, v.Envar.Name)
	case depth > maxDepth:
		return fmt.Errorf("arrays in arrays, more than %d deep", maxDepth)
	}
	return checkInfos(v.Infos, depth+1)
}

func checkInfos(infos []Info, depth int) error {
	for i := range infos {
		one := &infos[i]
		if one.Key == "" || len(one.Key) > maxKey {
			return fmt.Errorf("a key has 1 to %d bytes, not %d", maxKey, len(one.Key))
		}
		if err := one.check(depth); err != nil {
			return fmt.Errorf("%s: %w", one.Key, err)
		}
	}
	return nil
}
