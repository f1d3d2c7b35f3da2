package launch

import (
	"strings"
	"testing"
	"time"
)

func TestWatchdog(t *testing.T) {
	const cuda = "7f0 r-xp /opt/torch/lib/libtorch_cuda.so\n7f1 r-xp /opt/nccl/libnccl.so.2\n"
	for _, c := range []struct {
		env, maps string
		stood     time.Duration
		want      string
		first     bool // of a stall of 10 min
	}{
		{"", "", 0, "", false},
		{"", "7f0 r-xp /opt/torch/lib/libtorch_cpu.so\n7f1 r-xp /x/libnccl.so.2\n", 0, "", false},
		{"", cuda, 2 * time.Minute, "torch's watchdog ends this job in about 8 min: ", true},
		{"", cuda, 590 * time.Second, "torch's watchdog ends this job at any moment: ", true},
		{"TORCH_NCCL_ASYNC_ERROR_HANDLING=0", cuda, 0, "", false},
		{"NCCL_ASYNC_ERROR_HANDLING=0 TORCH_NCCL_ASYNC_ERROR_HANDLING=3", cuda, 0, "torch's watchdog ends this job in about 10 min: ", true},
	} {
		w := watchdogOf(strings.Fields(c.env), c.maps)
		if got := w.Left(c.stood); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" || w.ComesFirst(10*time.Minute) != c.first {
			t.Errorf("%q %q: %q, %v", c.env, c.maps, got, w.ComesFirst(10*time.Minute))
		}
	}
}
