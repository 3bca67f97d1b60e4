/** @file The error every layer throws at a person: a stable code, what happened, and what to do about it. */

export class DreamError extends Error {
  /** Stable, kebab-case, for scripts and tests. */
  readonly code: string;
  /** One or two sentences: what the reader can do now. */
  readonly advice: string;

  constructor(code: string, message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DreamError';
    this.code = code;
    this.advice = advice;
  }
}

/** Anything thrown, as a DreamError: unknown failures keep their message and get honest advice. */
export function asDreamError(error: unknown): DreamError {
  if (error instanceof DreamError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new DreamError(
    'unexpected',
    message,
    'This is a defect in the program. Your last finished iteration is safe; please report the message.',
    { cause: error },
  );
}
