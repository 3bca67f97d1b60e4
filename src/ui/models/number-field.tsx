/** @file A number someone types: taken when it is one within its bounds, and always shown as it is used. */
interface Properties {
  id: string;
  label: string;
  value: number;
  min: number;
  max: number;
  whole?: boolean;
  onValue(value: number): void;
}

export function NumberField({ id, label, value, min, max, whole, onValue }: Properties) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        inputMode={whole ? 'numeric' : 'decimal'}
        min={min}
        max={max}
        step={whole ? 1 : 'any'}
        value={String(value)}
        onChange={(event) => {
          const input = event.currentTarget;
          const typed = Number(input.value);
          const taken =
            input.value.trim() === '' || !Number.isFinite(typed) ? value : Math.min(max, Math.max(min, typed));
          onValue(whole ? Math.round(taken) : taken);
          input.value = String(whole ? Math.round(taken) : taken);
        }}
      />
    </div>
  );
}
