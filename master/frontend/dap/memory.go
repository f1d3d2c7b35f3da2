// Requests about memory, instructions and libraries.

package dap

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Bounds of what is read at once.
const (
	maxMemory       = 64 << 10 // bytes
	maxInstructions = 4096
)

// reference names memory of one rank: the ranks of a group have their own addresses, so that the lowest one stands for
// all. Clients pass it on as it is.
func reference(f frame, expr string) string {
	r, _ := f.ranks.Min()
	return fmt.Sprintf("%d/%d/%s", r, f.level, expr)
}

// findReference returns the frame and the expression of a reference; an address that a user has typed is one of the
// lowest rank of the focus that stands.
func (a *adapter) findReference(ref string) (frame, string, error) {
	parts := strings.SplitN(ref, "/", 3)
	if len(parts) == 3 {
		r, err := strconv.Atoi(parts[0])
		level, err2 := strconv.Atoi(parts[1])
		if err == nil && err2 == nil && r >= 0 && level >= 0 && rank.ID(r) <= rank.MaxID && parts[2] != "" {
			return frame{rank.Of(rank.ID(r)), level}, parts[2], nil
		}
	}
	if _, err := strconv.ParseUint(ref, 0, 64); err != nil {
		return frame{}, "", fmt.Errorf("%q names no memory: an address begins with 0x", clip(ref))
	}
	r, ok := a.states.In(session.Stopped).Intersect(a.focus).Min()
	if !ok {
		return frame{}, "", errors.New("no rank stands whose memory could be read")
	}
	return frame{ranks: rank.Of(r)}, ref, nil
}

// at returns the address of a reference with an offset in bytes.
func at(expr string, offset int) string {
	if offset == 0 {
		return expr
	}
	return fmt.Sprintf("(char *)(%s) + (%d)", expr, offset)
}

// pointsTo returns the expression of the memory of a value; "": it has none.
func pointsTo(expr, value string) string {
	switch {
	case expr == "" || strings.HasPrefix(expr, "$"):
		return ""
	case strings.HasPrefix(value, "{"):
		return "&(" + expr + ")"
	case strings.HasPrefix(value, "0x"), strings.HasPrefix(value, "(") && strings.Contains(value, "*) 0x"):
		return expr
	}
	return ""
}

// readMemory answers with bytes of one rank.
func (a *adapter) readMemory(_ time.Time, r *request) error {
	var args godap.ReadMemoryArguments
	if err := r.read(&args); err != nil {
		return err
	}
	f, expr, err := a.findReference(args.MemoryReference)
	switch {
	case err != nil:
		return err
	case args.Count < 0:
		return errors.New("readMemory: count cannot be negative")
	case args.Count == 0:
		r.answer(godap.ReadMemoryResponseBody{Address: "0x0"})
		return nil
	}
	count := min(args.Count, maxMemory)
	read := f.on("memory read", protocol.Args{Expr: at(expr, args.Offset), Count: count})
	return a.call(read, func(x *call) {
		address, found := x.only("addr")
		data, _ := x.only("data")
		b, err := hex.DecodeString(data)
		switch {
		case !found || err != nil: // as DAP says: nothing can be read there
			r.answer(godap.ReadMemoryResponseBody{Address: "0x0", UnreadableBytes: args.Count})
		default:
			r.answer(godap.ReadMemoryResponseBody{Address: address, Data: base64.StdEncoding.EncodeToString(b)})
		}
	})
}

// only returns the value of a column that all ranks share.
func (x *call) only(name string) (string, bool) {
	if c, ok := x.values(name); ok && len(c.Values()) == 1 {
		return c.Values()[0].Value, true
	}
	return "", false
}

// writeMemory writes bytes of one rank.
func (a *adapter) writeMemory(_ time.Time, r *request) error {
	var args godap.WriteMemoryArguments
	if err := r.read(&args); err != nil {
		return err
	}
	f, expr, err := a.findReference(args.MemoryReference)
	if err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(args.Data)
	switch {
	case err != nil:
		return fmt.Errorf("writeMemory: data: %w", err)
	case len(b) == 0:
		return errors.New("writeMemory: no data")
	}
	return a.ask(r, f.on("memory write", protocol.Args{Expr: at(expr, args.Offset), Data: b}), func(*call) {
		r.answer(godap.WriteMemoryResponseBody{BytesWritten: len(b)})
	})
}

// disassemble answers with exactly as many instructions as were asked for; where there are none it says so.
func (a *adapter) disassemble(_ time.Time, r *request) error {
	var args godap.DisassembleArguments
	if err := r.read(&args); err != nil {
		return err
	}
	f, expr, err := a.findReference(args.MemoryReference)
	before, after := -min(args.InstructionOffset, 0), args.InstructionOffset+args.InstructionCount
	switch {
	case err != nil:
		return err
	case args.InstructionCount < 0 || args.InstructionCount > maxInstructions || before > maxInstructions ||
		after > 2*maxInstructions:
		return fmt.Errorf("disassemble: %d instructions at most", maxInstructions)
	}
	expr = at(expr, args.Offset)
	var list []godap.DisassembledInstruction
	forward := func() {
		if after <= 0 {
			r.answer(godap.DisassembleResponseBody{Instructions: fit(list, args.InstructionCount, true)})
			return
		}
		bad := a.call(f.on("x", protocol.Args{Expr: expr, Format: strconv.Itoa(after) + "i", Limit: -1}), func(x *call) {
			next := instructions(x)
			if len(next) == 0 {
				r.fail(x.failure())
				return
			}
			next = next[min(max(args.InstructionOffset, 0), len(next)):]
			r.answer(godap.DisassembleResponseBody{Instructions: fit(append(list, next...), args.InstructionCount, false)})
		})
		if bad != nil {
			r.fail(bad)
		}
	}
	if before == 0 {
		forward()
		return nil
	}
	return a.call(f.on("x", protocol.Args{Expr: expr, Format: "-" + strconv.Itoa(before) + "i", Limit: -1}), func(x *call) {
		list = fit(instructions(x), before, true)
		if after <= 0 {
			list = list[:max(0, len(list)+after)]
		}
		forward()
	})
}

// instructions returns the rows of an answer to x.
func instructions(x *call) []godap.DisassembledInstruction {
	var list []godap.DisassembledInstruction
	each(x, func(body struct{ Rows []struct{ Label string } }, g protocol.Group) {
		if list != nil {
			return
		}
		for i, row := range body.Rows {
			address, _ := g.Column(strconv.Itoa(i) + ".addr")
			value, _ := g.Column("value." + strconv.Itoa(i))
			in := godap.DisassembledInstruction{Symbol: text.Clean(row.Label)}
			for _, v := range address.Values() {
				in.Address = v.Value
			}
			for _, v := range value.Values() {
				in.Instruction = text.Clean(v.Value)
			}
			if in.Address != "" {
				list = append(list, in)
			}
		}
	})
	return list
}

// fit makes a list as long as was asked for, with rows that say that there is nothing before it, or behind it.
func fit(list []godap.DisassembledInstruction, n int, before bool) []godap.DisassembledInstruction {
	nothing := godap.DisassembledInstruction{Address: "0x0", Instruction: "(nothing can be read here)"}
	for len(list) > n && before {
		list = list[1:]
	}
	list = list[:min(n, len(list))]
	for len(list) < n {
		if before {
			list = append([]godap.DisassembledInstruction{nothing}, list...)
		} else {
			list = append(list, nothing)
		}
	}
	return append([]godap.DisassembledInstruction{}, list...)
}

// modules answers with the libraries of the ranks, each once.
func (a *adapter) modules(_ time.Time, r *request) error {
	var args godap.ModulesArguments
	if err := r.read(&args); err != nil {
		return err
	}
	if args.StartModule < 0 || args.ModuleCount < 0 {
		return errors.New("modules: startModule and moduleCount cannot be negative")
	}
	return a.ask(r, a.onFocus("info sharedlibrary", protocol.Args{}), func(x *call) {
		list := []godap.Module{}
		seen := map[string]bool{}
		type library struct {
			Name    string
			Symbols bool
		}
		each(x, func(body struct{ Libraries []library }, _ protocol.Group) {
			for _, l := range body.Libraries {
				if seen[l.Name] {
					continue
				}
				seen[l.Name] = true
				m := godap.Module{Id: l.Name, Name: filepath.Base(text.Clean(l.Name)), Path: text.Clean(l.Name)}
				if m.SymbolStatus = "not read"; l.Symbols {
					m.SymbolStatus = "read"
				}
				list = append(list, m)
			}
		})
		total := len(list)
		list = list[min(args.StartModule, total):]
		if args.ModuleCount > 0 {
			list = list[:min(args.ModuleCount, len(list))]
		}
		r.answer(godap.ModulesResponseBody{Modules: list, TotalModules: total})
	})
}
