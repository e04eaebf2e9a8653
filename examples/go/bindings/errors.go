package assayer

import "fmt"

// A Status is what the library answered; a positive one is a code of the device's runtime.
type Status int32

const (
	Unavailable Status = -1 // not in this build
	Invalid     Status = -2 // an argument breaks a condition of the header; nothing was written
	NoMemory    Status = -3
	Unsupported Status = -4 // not on this device
)

func (s Status) String() string {
	switch s {
	case Unavailable:
		return "not in this build"
	case Invalid:
		return "refused: an argument breaks a condition of the header"
	case NoMemory:
		return "no memory"
	case Unsupported:
		return "not on this device"
	}
	return fmt.Sprintf("failed with code %d", int32(s))
}

// A CallError is a call that the library did not do.
type CallError struct {
	Operation string
	Status    Status
}

func (e *CallError) Error() string { return e.Operation + ": " + e.Status.String() }

// An ArgumentError is an argument that was not handed to the library.
type ArgumentError struct {
	Operation, Argument, Expected, Got string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s: expected %s, got %s", e.Operation, e.Argument, e.Expected, e.Got)
}
