/**
 * @file WebShop's colour normalisation (engine/normalize.py): an option counts as the first of these words that occurs
 * anywhere in it, so that `z2-pink` buys `pink`. The list and its order are part of the reward.
 */
const COLOURS =
  'alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut wheat white wine yellow'.split(
    ' ',
  );

/** The first colour word contained in `text`, else `text` itself. */
export const normalColour = (text: string): string => COLOURS.find((colour) => text.includes(colour)) ?? text;
