package debugger

import (
	"slices"
	"strings"

	"sdm/backend/mi/mitest"
)

// The output of a simulated gdb in a history.

// sent is a command that has not been answered.
type sent struct {
	token string
	line  string
}

// gdb processes a line of gdb.
func (h *history) gdb(line string) {
	h.note("< %s", line)
	h.d.Record(h.now, mitest.Record(line))
	h.settle()
}

// answer answers an outstanding command, not always the first.
func (h *history) answer(which int, with string) {
	if len(h.tokens) == 0 {
		return
	}
	s := h.tokens[min(which, len(h.tokens)-1)]
	if h.below(16) > 0 { // otherwise twice
		h.tokens = slices.DeleteFunc(h.tokens, func(o sent) bool { return o == s })
	}
	h.gdb(s.token + "^" + with)
}

const frame0 = `{level="0",addr="0x1",func="main",args=[],file="f.c",fullname="/f.c",line="7"}`

var refusals = []string{
	"No symbol table is loaded.", "Cannot execute this command while the target is running.", "No such process.", "Selected thread is running.",
	"The program being debugged stopped while in a function called from GDB.", "-stack-list-frames: Not enough frames in stack.",
	"Invalid frame id: 3", "Quit", "Thread is exited.", "ptrace: Operation not permitted.",
}

// payloads are results of all kinds.
var payloads = []string{
	"done", "running",
	`done,bkpt={number="2",type="breakpoint",disp="keep",enabled="y",addr="0x2",func="main",file="f.c",line="7",thread-groups=["i1"],times="0",original-location="main"}`,
	`done,bkpt={number="3",type="breakpoint",disp="del",enabled="y",addr="<MULTIPLE>",times="0",original-location="f",locations=[{number="3.1",enabled="y",addr="0x3",func="f",thread-groups=["i1"]},{number="3.2",enabled="y",addr="0x4",func="f",thread-groups=["i2"]}]}`,
	`done,bkpt={number="4",type="breakpoint",disp="keep",enabled="y",addr="<PENDING>",pending="f",times="0",original-location="f"}`,
	`done,wpt={number="5",exp="x"}`, `done,hw-awpt={number="6",exp="x"}`,
	`done,value="1"`, `done,value="{1, 2, 3}"`, `done,value="0x7f0000000010"`, `done,value="(int *) 0x10 <x>"`, `done,value=""`, `done,value="12"`,
	`done,stack=[frame=` + frame0 + `,frame={level="1",addr="0x2",func="??",from="/lib/libc.so"}]`, `done,stack=[]`,
	`done,stack-args=[frame={level="0",args=[{name="n",value="1"},{name="n",value="0x7f0000000010"}]}]`,
	`done,frame=` + frame0, `done,frame={level="0",addr="0x7f0000000010",func="??",from="/lib/libc.so"}`,
	`done,locals=[{name="i",value="1"},{name="i",value="2"}]`, `done,depth="2"`,
	`done,threads=[]`, `done,threads=[{id="1",target-id="Thread 1",frame=` + frame0 + `,state="stopped"},{id="2",target-id="Thread 2",state="running"}],current-thread-id="1"`,
	`done,threads=[{id="1",target-id="Thread 1",frame={level="0",addr="0x7f0000000010",func="??",from="/lib/libc.so"},state="stopped"}]`,
	`done,groups=[{id="i1",type="process",pid="100"},{id="i2",type="process",pid="101"}]`, `done,groups=[]`,
	`done,BreakpointTable={nr_rows="2",body=[bkpt={number="2",type="breakpoint",disp="keep",enabled="y",addr="0x2",func="main",times="1",cond="$_inferior == 1"},bkpt={number="9",type="catchpoint",disp="keep",enabled="n",what="exec",times="0"}]}`,
	`done,BreakpointTable={nr_rows="0",body=[]}`,
	`done,memory=[{begin="0x1",offset="0x0",end="0x3",contents="0a0b"}]`, `done,memory=[]`,
	`done,register-names=["rax","","rip"]`, `done,register-values=[{number="0",value="1"},{number="2",value="0x1"}]`,
	`done,asm_insns=[src_and_asm_line={line="7",file="f.c",line_asm_insn=[{address="0x1",func-name="main",offset="0",inst="nop"}]}]`, `done,asm_insns=[{address="0x1",inst="nop"}]`,
	`done,shared-libraries=[{id="/lib/libc.so",target-name="/lib/libc.so",host-name="/lib/libc.so",symbols-loaded="0",ranges=[{from="0x1",to="0x2"}]}]`,
	`done,line="7",file="f.c",fullname="/f.c"`, `done,new-thread-id="2",frame=` + frame0, `done,inferior="i2"`,
	`done,lines=[{pc="0x1",line="7"}]`, `done,features=["a"]`, "connected,frame=" + frame0, "exit",
}

// fitting lists the payloads that fit each command.
var fitting = []struct {
	command string
	answers []int // in payloads; empty: "done"
}{
	{"-break-insert", []int{2, 2, 3, 4}}, {"-break-watch", []int{5, 6}}, {"-catch", []int{2, 2}}, {"-break-list", []int{25, 26}}, {"-break", nil},
	{"-data-evaluate-expression", []int{7, 8, 9, 10, 11, 12}}, {"-stack-list-frames", []int{13, 13, 14}}, {"-stack-list-arguments", []int{15, 15, 0}},
	{"-stack-info-frame", []int{16, 17}}, {"-stack-info-depth", []int{19}}, {"-stack-list", []int{18}}, {"-thread-info", []int{20, 21, 21, 22}}, {"-thread-select", []int{34}},
	{"-list-thread-groups i", []int{20, 21, 21}}, {"-list-thread-groups", []int{23, 24}}, {"-data-read-memory", []int{27, 28}}, {"-data-list-register-names", []int{29}},
	{"-data-list-register-values", []int{30}}, {"-data-disassemble", []int{31, 32}}, {"-file-list-shared", []int{33}}, {"-add-inferior", []int{36}},
	{"-exec-interrupt", nil}, {"-exec", []int{1}}, {"-target-select", []int{39}}, {"-target", nil}, {"-gdb-exit", []int{40}},
}

// honest answers the first command as gdb might, with the records that come with it.
func (h *history) honest() {
	if len(h.tokens) == 0 {
		return
	}
	s := h.tokens[0]
	with := "done"
	for _, f := range fitting {
		if strings.HasPrefix(s.line, f.command) {
			if len(f.answers) > 0 {
				with = payloads[f.answers[h.below(len(f.answers))]]
			}
			break
		}
	}
	if strings.HasPrefix(s.line, "-interpreter-exec") || h.below(16) == 0 {
		h.gdb("~\"" + h.oneOf(`$1 = 1\n`, `type = int [3]\n`, `type = struct s {\n`, `=> 0x1 <main>:\tnop\n`, `SIGUSR1 \tYes\tNo\tYes\t\tUser defined\n`, `Run till exit\n`, `Line 7 of \"f.c\"\n`) + "\"")
	}
	h.answer(0, with)
	if with == "running" {
		h.gdb(`*running,thread-id="` + h.oneOf("all", "1", "2") + `"`)
	}
}

// tells returns an async record.
func (h *history) tells() string {
	thread, group := h.oneOf("1", "2", "3", "4", "5"), h.oneOf("i1", "i1", "i2", "i3")
	switch h.below(16) {
	case 0, 1:
		return `=thread-created,id="` + thread + `",group-id="` + group + `"`
	case 2, 3:
		return `=thread-exited,id="` + thread + `",group-id="` + group + `"`
	case 4:
		if h.below(4) == 0 {
			return `=thread-group-exited,id="` + group + `"` + h.oneOf("", `,exit-code="0"`, `,exit-code="0377"`)
		}
		return `=thread-group-started,id="` + h.oneOf("i1", "i2", "i4") + `",pid="` + h.oneOf("100", "777") + `"`
	case 5:
		return `*running,thread-id="` + h.oneOf("all", thread) + `"`
	case 6:
		return `=thread-selected,id="` + thread + `",frame=` + frame0
	case 7:
		return h.oneOf(`=cmd-param-changed,param="scheduler-locking",value="on"`, `=record-started,thread-group="i1",method="full"`, `=library-unloaded,id="/lib/libc.so",target-name="/lib/libc.so",host-name="/lib/libc.so",thread-group="i1"`,
			`=breakpoint-created,bkpt={number="8",type="breakpoint",disp="keep",enabled="y",addr="0x2",times="0"}`)
	case 8:
		if h.below(8) == 0 {
			return h.oneOf(`*stopped,reason="exited-normally"`, `*stopped,reason="exited",exit-code="03"`, `*stopped,reason="exited-signalled",signal-name="SIGKILL",signal-meaning="Killed"`)
		}
		return `&"` + h.oneOf("a warning\\n", "[New Thread 5]\\n", "") + `"`
	}
	reason := h.oneOf(`reason="breakpoint-hit",disp="keep",bkptno="2",`, `reason="breakpoint-hit",disp="del",bkptno="3",`, `reason="breakpoint-hit",disp="del",bkptno="1",`,
		`reason="end-stepping-range",`, `reason="signal-received",signal-name="0",signal-meaning="Signal 0",`, `reason="signal-received",signal-name="0",signal-meaning="Signal 0",`,
		`reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segmentation fault",`, `reason="signal-received",signal-name="SIGUSR1",signal-meaning="User",`, "",
		`reason="function-finished",gdb-result-var="$1",return-value="0x7f0000000010",`, `reason="watchpoint-trigger",wpt={number="5",exp="x"},value={old="1",new="2"},`, `reason="watchpoint-scope",wpnum="5",`,
		`reason="exec",new-exec="/bin/true",`, `reason="fork",disp="keep",bkptno="9",newpid="777",`, `reason="syscall-entry",disp="keep",bkptno="9",syscall-number="1",syscall-name="write",`, `reason="no-history",`,
		`reason="solib-event",disp="keep",bkptno="9",added=[{library="/lib/x"}],removed=[],`, `reason="signal-received",signal-name="SIGCONT",signal-meaning="Continued",`)
	frame := h.oneOf(frame0, frame0, `{level="0",addr="0x7f0000000010",func="??",from="/lib/libc.so"}`, `{level="0",addr="0x1",func="_start",args=[]}`)
	return `*stopped,` + reason + `frame=` + frame + `,thread-id="` + thread + `",stopped-threads=` + h.oneOf(`["`+thread+`"]`, `"all"`) + `,core="1"`
}
