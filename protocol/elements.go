// Values with their types, for a comparison with those of another time or job.

package protocol

// Values is the result of values: for each expression its type, and how its value is given. The value of expression N
// is the text in column "value.N", or, if it has a Kind, elements of an array: their bytes in base64 in column
// "data.N", the hash of all elements in "sum.N", and ArrayStat as JSON in "stat.N".
type Values struct {
	Values []ValueInfo `json:"values"`
}

// ValueInfo describes the value of one expression.
type ValueInfo struct {
	Expr string `json:"expr"`
	Type string `json:"type,omitempty"`
	// Kind is SignedKind, UnsignedKind or FloatingKind for an array of such numbers; "" for other values.
	Kind  string `json:"kind,omitempty"`
	Size  int    `json:"size,omitempty"` // of an element, in bytes; the lowest byte is the first one
	Shape Shape  `json:"shape,omitzero"`
	// Stride: each so manyth element is given, from the first on; a power of two.
	Stride int `json:"stride,omitempty"`
	// Trouble is why there is no value.
	Trouble string `json:"trouble,omitempty"`
}

// Kinds of numbers in arrays.
const (
	SignedKind   = "signed"
	UnsignedKind = "unsigned"
	FloatingKind = "floating"
)

// ArrayStat are the statistics of all elements of an array. Places are numbers of elements, from 0 in the order of
// memory.
type ArrayStat struct {
	Elements int    `json:"n"`
	NaN      int    `json:"nan,omitempty"`
	NaNAt    int    `json:"nan_at,omitempty"` // the first
	Inf      int    `json:"inf,omitempty"`
	Min      string `json:"min,omitempty"` // of the finite ones; "": there are none
	MinAt    int    `json:"min_at,omitempty"`
	Max      string `json:"max,omitempty"`
	MaxAt    int    `json:"max_at,omitempty"`
	// Sum is the sum of the finite ones.
	Sum float64 `json:"sum"`
}

// StrideOf returns the smallest stride with which at most so many elements of an array are given.
func StrideOf(elements, most int) int {
	stride := 1
	for (elements+stride-1)/stride > max(most, 1) {
		stride *= 2
	}
	return stride
}

const (
	// MaxTaken bounds what values gives of all arrays of a rank, in bytes.
	MaxTaken = 4 << 20
	// MaxValueExprs bounds the expressions of one values.
	MaxValueExprs = 100
)
