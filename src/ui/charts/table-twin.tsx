/** @file The same numbers as a chart, as a table: for keyboards, for screen readers, and for anyone who wants the number. */

export interface TwinColumn {
  title: string;
  cells: readonly string[];
}

interface Properties {
  name: string;
  iterations: readonly number[];
  columns: readonly TwinColumn[];
}

/** Closed until asked for, so the page does not carry eight long tables. */
export function TableTwin({ name, iterations, columns }: Properties) {
  return (
    <details class="twin">
      <summary>
        Numbers<span class="sr-only"> of {name}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard. */}
      <section class="scroll" tabIndex={0} aria-label={`Table: ${name}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Iteration</th>
              {columns.map(({ title }) => (
                <th scope="col" key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {iterations.map((iteration, row) => (
              <tr key={iteration}>
                <th scope="row">{iteration}</th>
                {columns.map(({ title, cells }) => (
                  <td key={title}>{cells[row]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
