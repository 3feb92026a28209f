/// Everything that delivery must never do, whatever comes in: the laws of the model test, one
/// case each. `EngineMutationTests` plants a fault for every one of them.
enum DeliveryLaw: String, CaseIterable {
  // One request, at the right time.
  case twoRequests = "at most one request is under way"
  case requestBeforeGate = "no request before the server's gate"
  case requestInPause = "no request within the pause after refusals"
  case pauseLongerThanGranted = "no pause is longer than it was granted, also after a restart"
  case requestForbidden = "no request without consent or after the end"
  case requestOnForbiddenPath = "no request on a path that policy forbids"
  case requestWithoutTime = "no request in the background without time granted"

  // The same again.
  case resentAfterFinal = "no identical body after a final 4xx"
  case resentWithRefusedToken = "no identical body with a token that got a 401"
  case resentAfterAcknowledgement = "no acknowledged row is sent again"
  case resentAtOnce = "no identical body at once, but for the three named exceptions"

  // Rows.
  case sentUnmarked = "only prepared batches are sent"
  case foreignAccount = "no row goes out under another account's token"
  case accountsMixed = "no batch mixes accounts"
  case deletedWithoutAcknowledgement = "no row is deleted without a 2xx"
  case quarantinedWithoutFinal = "no row is quarantined without a final answer"
  case releasedTwice = "a batch is released once"
  case settledTwice = "a batch is settled once at a time"
  case settledUnmarked = "only prepared batches are settled"
  case marksLeak = "no mark is left when all is done"

  // Callers.
  case waiterResumedTwice = "a flush is answered once"
  case waiterNeverResumed = "every flush is answered"
  case waiterBeyondItsTime = "no flush waits beyond its time"
  case waiterOutlivesEnd = "the end answers every flush"
  case askedTwice = "the provider is asked one at a time"
  case lateAnswerHeard = "an answer that nobody waits for any more changes nothing"
  case cancelledTwice = "only a request under way is cancelled"

  // Timers.
  case timersDiffer = "the timers that run are those that the engine knows"
  case timerCancelledTwice = "only a timer that runs is cancelled"
  case timerAfterEnd = "no timer runs after the end"
  case timersLeak = "no timer is left when all is done"
  case timersWithoutEnd = "timers do not fire for ever at one moment"

  // Time of the system's.
  case backgroundTimeTwice = "one background assertion at a time"
  case backgroundTimeReturnedTwice = "an assertion is ended once"
  case taskCompletedTwice = "a background task is completed once"
  case timeOutlivesEnd = "the end gives all time back"

  // Getting on.
  case noProgress = "what can go, goes"
  case workWithoutEnd = "work ends"
}
