// Breakpoints that are at no source line and no function: exceptions, data and instructions.

package dap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	godap "github.com/google/go-dap"
)

// setExceptionBreakpoints sets catchpoints.
func (a *adapter) setExceptionBreakpoints(_ time.Time, r *request) error {
	var args godap.SetExceptionBreakpointsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	wanted := []point{}
	for _, filter := range args.Filters {
		wanted = append(wanted, point{command: "catch", reason: "exception", event: filter})
	}
	for _, o := range args.FilterOptions {
		wanted = append(wanted, point{command: "catch", reason: "exception", event: o.FilterId, condition: o.Condition})
	}
	if a.target.Past {
		wanted = nil
	}
	for _, p := range wanted {
		if !slices.ContainsFunc(capabilities.ExceptionBreakpointFilters, func(f godap.ExceptionBreakpointsFilter) bool {
			return f.Filter == p.event
		}) {
			return fmt.Errorf("setExceptionBreakpoints: there is no filter %q", clip(p.event))
		}
	}
	a.replace(r, exceptionSet, wanted)
	return nil
}

// dataBreakpointInfo tells that a variable can be watched.
func (a *adapter) dataBreakpointInfo(_ time.Time, r *request) error {
	var args godap.DataBreakpointInfoArguments
	if err := r.read(&args); err != nil {
		return err
	}
	expr, level := args.Name, 0
	if args.VariablesReference != 0 {
		v, err := a.handles.findValue(args.VariablesReference)
		if err != nil {
			return err
		}
		level = v.frame.level
		if expr, _, err = v.variable(args.Name); err != nil {
			r.answer(godap.DataBreakpointInfoResponseBody{Description: err.Error()})
			return nil
		}
	} else if args.FrameId != 0 {
		f, err := a.handles.findFrame(args.FrameId)
		if err != nil {
			return err
		}
		level = f.level
	}
	if strings.TrimSpace(expr) == "" {
		r.answer(godap.DataBreakpointInfoResponseBody{Description: "this value cannot be watched"})
		return nil
	}
	r.answer(godap.DataBreakpointInfoResponseBody{DataId: fmt.Sprintf("%d/%s", level, expr), Description: expr,
		AccessTypes: []godap.DataBreakpointAccessType{"read", "write", "readWrite"}})
	return nil
}

// accesses are gdb's words for DAP's.
var accesses = map[godap.DataBreakpointAccessType]string{"": "", "write": "", "read": "read", "readWrite": "access"}

// setDataBreakpoints sets watchpoints on the ranks of the focus that stand.
func (a *adapter) setDataBreakpoints(_ time.Time, r *request) error {
	var args godap.SetDataBreakpointsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	wanted := []point{}
	for _, b := range args.Breakpoints {
		level, expr, ok := strings.Cut(b.DataId, "/")
		n, err := strconv.Atoi(level)
		access, known := accesses[b.AccessType]
		if !ok || err != nil || n < 0 || expr == "" || !known {
			return fmt.Errorf("setDataBreakpoints: %q is not from dataBreakpointInfo", clip(b.DataId))
		}
		wanted = append(wanted, point{command: "watch", reason: "data breakpoint", expr: expr, level: n, access: access,
			condition: b.Condition, hit: b.HitCondition})
	}
	a.replace(r, dataSet, wanted)
	return nil
}

// setInstructionBreakpoints sets breakpoints at addresses.
func (a *adapter) setInstructionBreakpoints(_ time.Time, r *request) error {
	var args godap.SetInstructionBreakpointsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	wanted := []point{}
	for _, b := range args.Breakpoints {
		if _, err := strconv.ParseUint(b.InstructionReference, 0, 64); err != nil {
			return fmt.Errorf("setInstructionBreakpoints: %q is not an address", clip(b.InstructionReference))
		}
		wanted = append(wanted, point{command: "break", reason: "instruction breakpoint",
			location: "*" + at(b.InstructionReference, b.Offset), condition: b.Condition, hit: b.HitCondition})
	}
	a.replace(r, instructionSet, wanted)
	return nil
}
