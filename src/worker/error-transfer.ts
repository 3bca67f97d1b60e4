/**
 * @file Typed errors across the worker's border: Comlink sends an Error's name, message and stack, but no `code`.
 *
 * Imported by both sides. It extends Comlink's own handler for thrown values, so that a DreamError arrives as one.
 */
import { type TransferHandler, transferHandlers } from 'comlink';
import { DreamError } from '../data/errors';

interface Thrown {
  value: unknown;
}
interface WireDreamError {
  dreamError: { code: string; message: string; advice: string };
}

const isWire = (value: unknown): value is WireDreamError =>
  typeof value === 'object' && value !== null && 'dreamError' in value;

const plain = transferHandlers.get('throw') as TransferHandler<Thrown, unknown>;

const typed: TransferHandler<Thrown, unknown> = {
  canHandle: (value): value is Thrown => plain.canHandle(value),
  serialize(thrown) {
    if (!(thrown.value instanceof DreamError)) return plain.serialize(thrown);
    const { code, message, advice } = thrown.value;
    return [{ dreamError: { code, message, advice } } satisfies WireDreamError, []];
  },
  /** Throws, as Comlink expects of this handler. */
  deserialize(wire) {
    if (!isWire(wire)) return plain.deserialize(wire);
    const { code, message, advice } = wire.dreamError;
    throw new DreamError(code, message, advice);
  },
};

export function transferTypedErrors(): void {
  transferHandlers.set('throw', typed as TransferHandler<unknown, unknown>);
}
