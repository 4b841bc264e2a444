package claims

// Finding is what a person should know of a stream, and what is no refusal. Package report has a sentence for each.
type Finding int

// The findings; 0 is none.
const (
	_ Finding = iota

	// Of the plan.
	ResendingUnknown     // the outcome of an earlier operation is unknown, so the set is sent again
	Resending            // another resource leaves, with Other attached, so the set is sent again
	DetachedFirst        // a resource that leaves detaches the processors, and may do that before another one sets them
	MarkMayBeLost        // with create_before_destroy, this resource detaches what another one has set
	MarkMayBeLostToState // likewise, and the other resource relies on its set
	DropUnknown          // a group whose streams are known after apply may detach what another resource has set
	MayBeLeftBehind      // a destroy, perhaps of an object that was left behind; another resource relies on its set
	WillBeDetached       // a resource that takes the stream over detaches Other
	OwnWillBeDetached    // likewise, and an object that is replaced had Other; with create_before_destroy, the apply cannot know that
	WillBeUnchecked      // the apply will refuse to destroy the object that is replaced; see [Unchecked]
	MayBeDetached        // likewise WillBeDetached, but the stream could not be read at the deployment that is configured now
	CreateWillFail       // the refresh found no such stream

	// Of the apply.
	DetachedForAMoment        // a leave of this session has detached the processors, and the set attaches some again
	WereDetached              // a leave has detached the processors, which the plan did not foresee; here begin those of leaves
	StayAttached              // the destroy of an old object sent nothing, because another resource may have the stream
	StayAttachedBesideFailure // a leave sent nothing, and the other resource could not be applied
	NotFoundOnDestroy         // the service does not know the stream

	// Of reads.
	Gone      // the refresh found no such stream
	NotListed // a query found no such stream

	FindingCount // one more than the last
)
